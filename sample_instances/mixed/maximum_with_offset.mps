NAME maximum_with_offset
OBJSENSE
 MAX
ROWS
 N obj
 L wood
 L hours
COLUMNS
 table obj 70 wood 4
 table hours 2
 chair obj 50 wood 3
 chair hours 1
 shelf obj 33 wood 2.5
 shelf hours 1
RHS
 RHS obj 250
 RHS wood 240
 RHS hours 100
BOUNDS
 UP BOUND shelf 20
 LO BOUND shelf 2
ENDATA
