NAME degenerate
ROWS
 N obj
 E supply_1
 E supply_2
 E supply_3
 E supply_4
 E supply_5
 E supply_6
 E demand_1
 E demand_2
 E demand_3
 E demand_4
 E demand_5
 E demand_6
COLUMNS
 ship_1_1 obj 42 supply_1 1
 ship_1_1 demand_1 1
 ship_1_2 obj 50 supply_1 1
 ship_1_2 demand_2 1
 ship_1_3 obj 6 supply_1 1
 ship_1_3 demand_3 1
 ship_1_4 obj 50 supply_1 1
 ship_1_4 demand_4 1
 ship_1_5 obj 31 supply_1 1
 ship_1_5 demand_5 1
 ship_1_6 obj 33 supply_1 1
 ship_1_6 demand_6 1
 ship_2_1 obj 40 supply_2 1
 ship_2_1 demand_1 1
 ship_2_2 obj 21 supply_2 1
 ship_2_2 demand_2 1
 ship_2_3 obj 59 supply_2 1
 ship_2_3 demand_3 1
 ship_2_4 obj 8 supply_2 1
 ship_2_4 demand_4 1
 ship_2_5 obj 20 supply_2 1
 ship_2_5 demand_5 1
 ship_2_6 obj 26 supply_2 1
 ship_2_6 demand_6 1
 ship_3_1 obj 36 supply_3 1
 ship_3_1 demand_1 1
 ship_3_2 obj 27 supply_3 1
 ship_3_2 demand_2 1
 ship_3_3 obj 12 supply_3 1
 ship_3_3 demand_3 1
 ship_3_4 obj 7 supply_3 1
 ship_3_4 demand_4 1
 ship_3_5 obj 5 supply_3 1
 ship_3_5 demand_5 1
 ship_3_6 obj 7 supply_3 1
 ship_3_6 demand_6 1
 ship_4_1 obj 13 supply_4 1
 ship_4_1 demand_1 1
 ship_4_2 obj 60 supply_4 1
 ship_4_2 demand_2 1
 ship_4_3 obj 15 supply_4 1
 ship_4_3 demand_3 1
 ship_4_4 obj 41 supply_4 1
 ship_4_4 demand_4 1
 ship_4_5 obj 47 supply_4 1
 ship_4_5 demand_5 1
 ship_4_6 obj 18 supply_4 1
 ship_4_6 demand_6 1
 ship_5_1 obj 20 supply_5 1
 ship_5_1 demand_1 1
 ship_5_2 obj 29 supply_5 1
 ship_5_2 demand_2 1
 ship_5_3 obj 19 supply_5 1
 ship_5_3 demand_3 1
 ship_5_4 obj 59 supply_5 1
 ship_5_4 demand_4 1
 ship_5_5 obj 14 supply_5 1
 ship_5_5 demand_5 1
 ship_5_6 obj 55 supply_5 1
 ship_5_6 demand_6 1
 ship_6_1 obj 49 supply_6 1
 ship_6_1 demand_1 1
 ship_6_2 obj 52 supply_6 1
 ship_6_2 demand_2 1
 ship_6_3 obj 11 supply_6 1
 ship_6_3 demand_3 1
 ship_6_4 obj 26 supply_6 1
 ship_6_4 demand_4 1
 ship_6_5 obj 40 supply_6 1
 ship_6_5 demand_5 1
 ship_6_6 obj 32 supply_6 1
 ship_6_6 demand_6 1
RHS
 RHS supply_1 1
 RHS supply_2 1
 RHS supply_3 1
 RHS supply_4 1
 RHS supply_5 1
 RHS supply_6 1
 RHS demand_1 1
 RHS demand_2 1
 RHS demand_3 1
 RHS demand_4 1
 RHS demand_5 1
 RHS demand_6 1
BOUNDS
ENDATA
