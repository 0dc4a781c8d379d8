from batchlp_cli.batch import LPBatch as LPBatch
from batchlp_cli.library import Answer as Answer
from batchlp_cli.library import Studied as Studied
from batchlp_cli.library import branch as branch
from batchlp_cli.library import linear_program as linear_program
from batchlp_cli.library import solve as solve
from batchlp_cli.library import tighten as tighten
from batchlp_cli.problem import LinearProgram as LinearProgram

__version__: str
