NAME transport_10
ROWS
 N obj
 L supply_1
 L supply_2
 L supply_3
 L supply_4
 L supply_5
 L supply_6
 L supply_7
 L supply_8
 G demand_1
 G demand_2
 G demand_3
 G demand_4
 G demand_5
 G demand_6
 G demand_7
 G demand_8
 G demand_9
 G demand_10
 G demand_11
 G demand_12
 G demand_13
 G demand_14
 G demand_15
COLUMNS
 ship_1_1 obj 31 supply_1 1
 ship_1_1 demand_1 1
 ship_1_2 obj 33 supply_1 1
 ship_1_2 demand_2 1
 ship_1_3 obj 47 supply_1 1
 ship_1_3 demand_3 1
 ship_1_4 obj 58 supply_1 1
 ship_1_4 demand_4 1
 ship_1_5 obj 6 supply_1 1
 ship_1_5 demand_5 1
 ship_1_6 obj 13 supply_1 1
 ship_1_6 demand_6 1
 ship_1_7 obj 51 supply_1 1
 ship_1_7 demand_7 1
 ship_1_8 obj 58 supply_1 1
 ship_1_8 demand_8 1
 ship_1_9 obj 18 supply_1 1
 ship_1_9 demand_9 1
 ship_1_10 obj 22 supply_1 1
 ship_1_10 demand_10 1
 ship_1_11 obj 53 supply_1 1
 ship_1_11 demand_11 1
 ship_1_12 obj 28 supply_1 1
 ship_1_12 demand_12 1
 ship_1_13 obj 20 supply_1 1
 ship_1_13 demand_13 1
 ship_1_14 obj 51 supply_1 1
 ship_1_14 demand_14 1
 ship_1_15 obj 19 supply_1 1
 ship_1_15 demand_15 1
 ship_2_1 obj 27 supply_2 1
 ship_2_1 demand_1 1
 ship_2_2 obj 41 supply_2 1
 ship_2_2 demand_2 1
 ship_2_3 obj 35 supply_2 1
 ship_2_3 demand_3 1
 ship_2_4 obj 9 supply_2 1
 ship_2_4 demand_4 1
 ship_2_5 obj 6 supply_2 1
 ship_2_5 demand_5 1
 ship_2_6 obj 53 supply_2 1
 ship_2_6 demand_6 1
 ship_2_7 obj 47 supply_2 1
 ship_2_7 demand_7 1
 ship_2_8 obj 51 supply_2 1
 ship_2_8 demand_8 1
 ship_2_9 obj 35 supply_2 1
 ship_2_9 demand_9 1
 ship_2_10 obj 50 supply_2 1
 ship_2_10 demand_10 1
 ship_2_11 obj 23 supply_2 1
 ship_2_11 demand_11 1
 ship_2_12 obj 30 supply_2 1
 ship_2_12 demand_12 1
 ship_2_13 obj 49 supply_2 1
 ship_2_13 demand_13 1
 ship_2_14 obj 11 supply_2 1
 ship_2_14 demand_14 1
 ship_2_15 obj 21 supply_2 1
 ship_2_15 demand_15 1
 ship_3_1 obj 11 supply_3 1
 ship_3_1 demand_1 1
 ship_3_2 obj 30 supply_3 1
 ship_3_2 demand_2 1
 ship_3_3 obj 59 supply_3 1
 ship_3_3 demand_3 1
 ship_3_4 obj 12 supply_3 1
 ship_3_4 demand_4 1
 ship_3_5 obj 26 supply_3 1
 ship_3_5 demand_5 1
 ship_3_6 obj 27 supply_3 1
 ship_3_6 demand_6 1
 ship_3_7 obj 55 supply_3 1
 ship_3_7 demand_7 1
 ship_3_8 obj 16 supply_3 1
 ship_3_8 demand_8 1
 ship_3_9 obj 33 supply_3 1
 ship_3_9 demand_9 1
 ship_3_10 obj 19 supply_3 1
 ship_3_10 demand_10 1
 ship_3_11 obj 6 supply_3 1
 ship_3_11 demand_11 1
 ship_3_12 obj 47 supply_3 1
 ship_3_12 demand_12 1
 ship_3_13 obj 8 supply_3 1
 ship_3_13 demand_13 1
 ship_3_14 obj 20 supply_3 1
 ship_3_14 demand_14 1
 ship_3_15 obj 32 supply_3 1
 ship_3_15 demand_15 1
 ship_4_1 obj 32 supply_4 1
 ship_4_1 demand_1 1
 ship_4_2 obj 11 supply_4 1
 ship_4_2 demand_2 1
 ship_4_3 obj 59 supply_4 1
 ship_4_3 demand_3 1
 ship_4_4 obj 46 supply_4 1
 ship_4_4 demand_4 1
 ship_4_5 obj 58 supply_4 1
 ship_4_5 demand_5 1
 ship_4_6 obj 10 supply_4 1
 ship_4_6 demand_6 1
 ship_4_7 obj 45 supply_4 1
 ship_4_7 demand_7 1
 ship_4_8 obj 21 supply_4 1
 ship_4_8 demand_8 1
 ship_4_9 obj 35 supply_4 1
 ship_4_9 demand_9 1
 ship_4_10 obj 56 supply_4 1
 ship_4_10 demand_10 1
 ship_4_11 obj 20 supply_4 1
 ship_4_11 demand_11 1
 ship_4_12 obj 45 supply_4 1
 ship_4_12 demand_12 1
 ship_4_13 obj 13 supply_4 1
 ship_4_13 demand_13 1
 ship_4_14 obj 23 supply_4 1
 ship_4_14 demand_14 1
 ship_4_15 obj 59 supply_4 1
 ship_4_15 demand_15 1
 ship_5_1 obj 28 supply_5 1
 ship_5_1 demand_1 1
 ship_5_2 obj 33 supply_5 1
 ship_5_2 demand_2 1
 ship_5_3 obj 21 supply_5 1
 ship_5_3 demand_3 1
 ship_5_4 obj 11 supply_5 1
 ship_5_4 demand_4 1
 ship_5_5 obj 28 supply_5 1
 ship_5_5 demand_5 1
 ship_5_6 obj 39 supply_5 1
 ship_5_6 demand_6 1
 ship_5_7 obj 30 supply_5 1
 ship_5_7 demand_7 1
 ship_5_8 obj 48 supply_5 1
 ship_5_8 demand_8 1
 ship_5_9 obj 25 supply_5 1
 ship_5_9 demand_9 1
 ship_5_10 obj 39 supply_5 1
 ship_5_10 demand_10 1
 ship_5_11 obj 48 supply_5 1
 ship_5_11 demand_11 1
 ship_5_12 obj 56 supply_5 1
 ship_5_12 demand_12 1
 ship_5_13 obj 28 supply_5 1
 ship_5_13 demand_13 1
 ship_5_14 obj 7 supply_5 1
 ship_5_14 demand_14 1
 ship_5_15 obj 45 supply_5 1
 ship_5_15 demand_15 1
 ship_6_1 obj 34 supply_6 1
 ship_6_1 demand_1 1
 ship_6_2 obj 53 supply_6 1
 ship_6_2 demand_2 1
 ship_6_3 obj 30 supply_6 1
 ship_6_3 demand_3 1
 ship_6_4 obj 25 supply_6 1
 ship_6_4 demand_4 1
 ship_6_5 obj 8 supply_6 1
 ship_6_5 demand_5 1
 ship_6_6 obj 30 supply_6 1
 ship_6_6 demand_6 1
 ship_6_7 obj 40 supply_6 1
 ship_6_7 demand_7 1
 ship_6_8 obj 48 supply_6 1
 ship_6_8 demand_8 1
 ship_6_9 obj 52 supply_6 1
 ship_6_9 demand_9 1
 ship_6_10 obj 17 supply_6 1
 ship_6_10 demand_10 1
 ship_6_11 obj 38 supply_6 1
 ship_6_11 demand_11 1
 ship_6_12 obj 50 supply_6 1
 ship_6_12 demand_12 1
 ship_6_13 obj 19 supply_6 1
 ship_6_13 demand_13 1
 ship_6_14 obj 24 supply_6 1
 ship_6_14 demand_14 1
 ship_6_15 obj 52 supply_6 1
 ship_6_15 demand_15 1
 ship_7_1 obj 37 supply_7 1
 ship_7_1 demand_1 1
 ship_7_2 obj 33 supply_7 1
 ship_7_2 demand_2 1
 ship_7_3 obj 42 supply_7 1
 ship_7_3 demand_3 1
 ship_7_4 obj 33 supply_7 1
 ship_7_4 demand_4 1
 ship_7_5 obj 59 supply_7 1
 ship_7_5 demand_5 1
 ship_7_6 obj 47 supply_7 1
 ship_7_6 demand_6 1
 ship_7_7 obj 8 supply_7 1
 ship_7_7 demand_7 1
 ship_7_8 obj 13 supply_7 1
 ship_7_8 demand_8 1
 ship_7_9 obj 35 supply_7 1
 ship_7_9 demand_9 1
 ship_7_10 obj 50 supply_7 1
 ship_7_10 demand_10 1
 ship_7_11 obj 8 supply_7 1
 ship_7_11 demand_11 1
 ship_7_12 obj 43 supply_7 1
 ship_7_12 demand_12 1
 ship_7_13 obj 47 supply_7 1
 ship_7_13 demand_13 1
 ship_7_14 obj 49 supply_7 1
 ship_7_14 demand_14 1
 ship_7_15 obj 53 supply_7 1
 ship_7_15 demand_15 1
 ship_8_1 obj 15 supply_8 1
 ship_8_1 demand_1 1
 ship_8_2 obj 36 supply_8 1
 ship_8_2 demand_2 1
 ship_8_3 obj 49 supply_8 1
 ship_8_3 demand_3 1
 ship_8_4 obj 25 supply_8 1
 ship_8_4 demand_4 1
 ship_8_5 obj 15 supply_8 1
 ship_8_5 demand_5 1
 ship_8_6 obj 31 supply_8 1
 ship_8_6 demand_6 1
 ship_8_7 obj 9 supply_8 1
 ship_8_7 demand_7 1
 ship_8_8 obj 17 supply_8 1
 ship_8_8 demand_8 1
 ship_8_9 obj 52 supply_8 1
 ship_8_9 demand_9 1
 ship_8_10 obj 42 supply_8 1
 ship_8_10 demand_10 1
 ship_8_11 obj 53 supply_8 1
 ship_8_11 demand_11 1
 ship_8_12 obj 52 supply_8 1
 ship_8_12 demand_12 1
 ship_8_13 obj 54 supply_8 1
 ship_8_13 demand_13 1
 ship_8_14 obj 22 supply_8 1
 ship_8_14 demand_14 1
 ship_8_15 obj 31 supply_8 1
 ship_8_15 demand_15 1
RHS
 RHS supply_1 73
 RHS supply_2 87
 RHS supply_3 84
 RHS supply_4 95
 RHS supply_5 95
 RHS supply_6 90
 RHS supply_7 42
 RHS supply_8 35
 RHS demand_1 34
 RHS demand_2 21
 RHS demand_3 47
 RHS demand_4 11
 RHS demand_5 46
 RHS demand_6 38
 RHS demand_7 20
 RHS demand_8 38
 RHS demand_9 31
 RHS demand_10 49
 RHS demand_11 55
 RHS demand_12 17
 RHS demand_13 30
 RHS demand_14 21
 RHS demand_15 40
BOUNDS
ENDATA
