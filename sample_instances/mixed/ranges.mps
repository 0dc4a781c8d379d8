NAME ranges
ROWS
 N obj
 G energy
 G protein
 G fat
 G calcium
COLUMNS
 oats obj 0.3 energy 390
 oats protein 13 fat 7
 oats calcium 54
 milk obj 0.9 energy 320
 milk protein 16 fat 18
 milk calcium 560
 eggs obj 1.6 energy 310
 eggs protein 25 fat 22
 eggs calcium 110
 kale obj 1.1 energy 70
 kale protein 6 fat 1
 kale calcium 250
RHS
 RHS energy 2000
 RHS protein 55
 RHS fat 40
 RHS calcium 1000
RANGES
 RANGES energy 400
 RANGES protein 65
 RANGES fat 40
 RANGES calcium 1500
BOUNDS
 UP BOUND oats 6
 UP BOUND milk 4
 UP BOUND eggs 3
 UP BOUND kale 5
 LO BOUND kale 0.5
ENDATA
