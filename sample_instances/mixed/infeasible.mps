NAME infeasible
ROWS
 N obj
 L supply_1
 L supply_2
 L supply_3
 G demand_1
 G demand_2
 G demand_3
 G demand_4
COLUMNS
 ship_1_1 obj 12 supply_1 1
 ship_1_1 demand_1 1
 ship_1_2 obj 12 supply_1 1
 ship_1_2 demand_2 1
 ship_1_3 obj 49 supply_1 1
 ship_1_3 demand_3 1
 ship_1_4 obj 32 supply_1 1
 ship_1_4 demand_4 1
 ship_2_1 obj 38 supply_2 1
 ship_2_1 demand_1 1
 ship_2_2 obj 38 supply_2 1
 ship_2_2 demand_2 1
 ship_2_3 obj 44 supply_2 1
 ship_2_3 demand_3 1
 ship_2_4 obj 6 supply_2 1
 ship_2_4 demand_4 1
 ship_3_1 obj 32 supply_3 1
 ship_3_1 demand_1 1
 ship_3_2 obj 13 supply_3 1
 ship_3_2 demand_2 1
 ship_3_3 obj 27 supply_3 1
 ship_3_3 demand_3 1
 ship_3_4 obj 56 supply_3 1
 ship_3_4 demand_4 1
RHS
 RHS supply_1 50
 RHS supply_2 30
 RHS supply_3 20
 RHS demand_1 40
 RHS demand_2 30
 RHS demand_3 20
 RHS demand_4 11
BOUNDS
ENDATA
