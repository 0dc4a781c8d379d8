NAME unbounded
OBJSENSE
 MAX
ROWS
 N obj
 L flour
 G contract
COLUMNS
 bread obj 2 flour 1
 bread contract 1
 cake obj 5 flour 2
 rent obj 1 contract 1
RHS
 RHS flour 120
 RHS contract 10
BOUNDS
 UP BOUND cake 40
ENDATA
