NAME free_columns
ROWS
 N obj
 E point_1
 E point_2
 E point_3
 E point_4
 E point_5
 E point_6
 E point_7
 E point_8
 E point_9
 E point_10
 E point_11
 E point_12
COLUMNS
 slope point_2 1 point_3 2
 slope point_4 3 point_5 4
 slope point_6 5 point_7 6
 slope point_8 7 point_9 8
 slope point_10 9 point_11 10
 slope point_12 11
 intercept point_1 1 point_2 1
 intercept point_3 1 point_4 1
 intercept point_5 1 point_6 1
 intercept point_7 1 point_8 1
 intercept point_9 1 point_10 1
 intercept point_11 1 point_12 1
 over_1 obj 1 point_1 -1
 under_1 obj 1 point_1 1
 over_2 obj 1 point_2 -1
 under_2 obj 1 point_2 1
 over_3 obj 1 point_3 -1
 under_3 obj 1 point_3 1
 over_4 obj 1 point_4 -1
 under_4 obj 1 point_4 1
 over_5 obj 1 point_5 -1
 under_5 obj 1 point_5 1
 over_6 obj 1 point_6 -1
 under_6 obj 1 point_6 1
 over_7 obj 1 point_7 -1
 under_7 obj 1 point_7 1
 over_8 obj 1 point_8 -1
 under_8 obj 1 point_8 1
 over_9 obj 1 point_9 -1
 under_9 obj 1 point_9 1
 over_10 obj 1 point_10 -1
 under_10 obj 1 point_10 1
 over_11 obj 1 point_11 -1
 under_11 obj 1 point_11 1
 over_12 obj 1 point_12 -1
 under_12 obj 1 point_12 1
RHS
 RHS point_1 -14
 RHS point_2 -15
 RHS point_3 -12
 RHS point_4 -6
 RHS point_5 -7
 RHS point_6 -1
 RHS point_7 2
 RHS point_8 -3
 RHS point_9 -2
 RHS point_10 4
 RHS point_11 7
 RHS point_12 18
BOUNDS
 FR BOUND slope
 FR BOUND intercept
ENDATA
