NAME facility_location
ROWS
 N obj
 E demand_1
 E demand_2
 E demand_3
 E demand_4
 E demand_5
 E demand_6
 E demand_7
 E demand_8
 E demand_9
 E demand_10
 E demand_11
 E demand_12
 L link_1_1
 L link_1_2
 L link_1_3
 L link_1_4
 L link_1_5
 L link_1_6
 L link_1_7
 L link_1_8
 L link_1_9
 L link_1_10
 L link_1_11
 L link_1_12
 L link_2_1
 L link_2_2
 L link_2_3
 L link_2_4
 L link_2_5
 L link_2_6
 L link_2_7
 L link_2_8
 L link_2_9
 L link_2_10
 L link_2_11
 L link_2_12
 L link_3_1
 L link_3_2
 L link_3_3
 L link_3_4
 L link_3_5
 L link_3_6
 L link_3_7
 L link_3_8
 L link_3_9
 L link_3_10
 L link_3_11
 L link_3_12
 L link_4_1
 L link_4_2
 L link_4_3
 L link_4_4
 L link_4_5
 L link_4_6
 L link_4_7
 L link_4_8
 L link_4_9
 L link_4_10
 L link_4_11
 L link_4_12
 L link_5_1
 L link_5_2
 L link_5_3
 L link_5_4
 L link_5_5
 L link_5_6
 L link_5_7
 L link_5_8
 L link_5_9
 L link_5_10
 L link_5_11
 L link_5_12
 L link_6_1
 L link_6_2
 L link_6_3
 L link_6_4
 L link_6_5
 L link_6_6
 L link_6_7
 L link_6_8
 L link_6_9
 L link_6_10
 L link_6_11
 L link_6_12
 L capacity_1
 L capacity_2
 L capacity_3
 L capacity_4
 L capacity_5
 L capacity_6
COLUMNS
 M0 'MARKER' 'INTORG'
 open_1 obj 1064 link_1_1 -1
 open_1 link_1_2 -1 link_1_3 -1
 open_1 link_1_4 -1 link_1_5 -1
 open_1 link_1_6 -1 link_1_7 -1
 open_1 link_1_8 -1 link_1_9 -1
 open_1 link_1_10 -1 link_1_11 -1
 open_1 link_1_12 -1 capacity_1 -100
 open_2 obj 1626.041 link_2_1 -1
 open_2 link_2_2 -1 link_2_3 -1
 open_2 link_2_4 -1 link_2_5 -1
 open_2 link_2_6 -1 link_2_7 -1
 open_2 link_2_8 -1 link_2_9 -1
 open_2 link_2_10 -1 link_2_11 -1
 open_2 link_2_12 -1 capacity_2 -236
 open_3 obj 1938.997 link_3_1 -1
 open_3 link_3_2 -1 link_3_3 -1
 open_3 link_3_4 -1 link_3_5 -1
 open_3 link_3_6 -1 link_3_7 -1
 open_3 link_3_8 -1 link_3_9 -1
 open_3 link_3_10 -1 link_3_11 -1
 open_3 link_3_12 -1 capacity_3 -312
 open_4 obj 1209.749 link_4_1 -1
 open_4 link_4_2 -1 link_4_3 -1
 open_4 link_4_4 -1 link_4_5 -1
 open_4 link_4_6 -1 link_4_7 -1
 open_4 link_4_8 -1 link_4_9 -1
 open_4 link_4_10 -1 link_4_11 -1
 open_4 link_4_12 -1 capacity_4 -117
 open_5 obj 1344.208 link_5_1 -1
 open_5 link_5_2 -1 link_5_3 -1
 open_5 link_5_4 -1 link_5_5 -1
 open_5 link_5_6 -1 link_5_7 -1
 open_5 link_5_8 -1 link_5_9 -1
 open_5 link_5_10 -1 link_5_11 -1
 open_5 link_5_12 -1 capacity_5 -148
 open_6 obj 2006 link_6_1 -1
 open_6 link_6_2 -1 link_6_3 -1
 open_6 link_6_4 -1 link_6_5 -1
 open_6 link_6_6 -1 link_6_7 -1
 open_6 link_6_8 -1 link_6_9 -1
 open_6 link_6_10 -1 link_6_11 -1
 open_6 link_6_12 -1 capacity_6 -324
 M1 'MARKER' 'INTEND'
 serve_1_1 obj 43.874 demand_1 1
 serve_1_1 link_1_1 1 capacity_1 18
 serve_1_2 obj 32.339 demand_2 1
 serve_1_2 link_1_2 1 capacity_1 6
 serve_1_3 obj 179.567 demand_3 1
 serve_1_3 link_1_3 1 capacity_1 27
 serve_1_4 obj 158.357 demand_4 1
 serve_1_4 link_1_4 1 capacity_1 21
 serve_1_5 obj 227.6 demand_5 1
 serve_1_5 link_1_5 1 capacity_1 32
 serve_1_6 obj 7.661 demand_6 1
 serve_1_6 link_1_6 1 capacity_1 19
 serve_1_7 obj 80.523 demand_7 1
 serve_1_7 link_1_7 1 capacity_1 16
 serve_1_8 obj 40.453 demand_8 1
 serve_1_8 link_1_8 1 capacity_1 6
 serve_1_9 obj 66.825 demand_9 1
 serve_1_9 link_1_9 1 capacity_1 19
 serve_1_10 obj 200.306 demand_10 1
 serve_1_10 link_1_10 1 capacity_1 24
 serve_1_11 obj 57.838 demand_11 1
 serve_1_11 link_1_11 1 capacity_1 28
 serve_1_12 obj 33.008 demand_12 1
 serve_1_12 link_1_12 1 capacity_1 31
 serve_2_1 obj 44.13 demand_1 1
 serve_2_1 link_2_1 1 capacity_2 18
 serve_2_2 obj 31.204 demand_2 1
 serve_2_2 link_2_2 1 capacity_2 6
 serve_2_3 obj 147.32 demand_3 1
 serve_2_3 link_2_3 1 capacity_2 27
 serve_2_4 obj 144.667 demand_4 1
 serve_2_4 link_2_4 1 capacity_2 21
 serve_2_5 obj 288.716 demand_5 1
 serve_2_5 link_2_5 1 capacity_2 32
 serve_2_6 obj 65.082 demand_6 1
 serve_2_6 link_2_6 1 capacity_2 19
 serve_2_7 obj 135.615 demand_7 1
 serve_2_7 link_2_7 1 capacity_2 16
 serve_2_8 obj 46.82 demand_8 1
 serve_2_8 link_2_8 1 capacity_2 6
 serve_2_9 obj 5.115 demand_9 1
 serve_2_9 link_2_9 1 capacity_2 19
 serve_2_10 obj 218.893 demand_10 1
 serve_2_10 link_2_10 1 capacity_2 24
 serve_2_11 obj 142.588 demand_11 1
 serve_2_11 link_2_11 1 capacity_2 28
 serve_2_12 obj 145.666 demand_12 1
 serve_2_12 link_2_12 1 capacity_2 31
 serve_3_1 obj 65.797 demand_1 1
 serve_3_1 link_3_1 1 capacity_3 18
 serve_3_2 obj 1.883 demand_2 1
 serve_3_2 link_3_2 1 capacity_3 6
 serve_3_3 obj 48.312 demand_3 1
 serve_3_3 link_3_3 1 capacity_3 27
 serve_3_4 obj 40.759 demand_4 1
 serve_3_4 link_3_4 1 capacity_3 21
 serve_3_5 obj 147.595 demand_5 1
 serve_3_5 link_3_5 1 capacity_3 32
 serve_3_6 obj 110.912 demand_6 1
 serve_3_6 link_3_6 1 capacity_3 19
 serve_3_7 obj 114.616 demand_7 1
 serve_3_7 link_3_7 1 capacity_3 16
 serve_3_8 obj 16.329 demand_8 1
 serve_3_8 link_3_8 1 capacity_3 6
 serve_3_9 obj 107.753 demand_9 1
 serve_3_9 link_3_9 1 capacity_3 19
 serve_3_10 obj 88.587 demand_10 1
 serve_3_10 link_3_10 1 capacity_3 24
 serve_3_11 obj 131.925 demand_11 1
 serve_3_11 link_3_11 1 capacity_3 28
 serve_3_12 obj 179.348 demand_12 1
 serve_3_12 link_3_12 1 capacity_3 31
 serve_4_1 obj 112.668 demand_1 1
 serve_4_1 link_4_1 1 capacity_4 18
 serve_4_2 obj 31.583 demand_2 1
 serve_4_2 link_4_2 1 capacity_4 6
 serve_4_3 obj 187.296 demand_3 1
 serve_4_3 link_4_3 1 capacity_4 27
 serve_4_4 obj 134.672 demand_4 1
 serve_4_4 link_4_4 1 capacity_4 21
 serve_4_5 obj 48.073 demand_5 1
 serve_4_5 link_4_5 1 capacity_4 32
 serve_4_6 obj 126.599 demand_6 1
 serve_4_6 link_4_6 1 capacity_4 19
 serve_4_7 obj 54.855 demand_7 1
 serve_4_7 link_4_7 1 capacity_4 16
 serve_4_8 obj 18.933 demand_8 1
 serve_4_8 link_4_8 1 capacity_4 6
 serve_4_9 obj 165.57 demand_9 1
 serve_4_9 link_4_9 1 capacity_4 19
 serve_4_10 obj 102.713 demand_10 1
 serve_4_10 link_4_10 1 capacity_4 24
 serve_4_11 obj 117.716 demand_11 1
 serve_4_11 link_4_11 1 capacity_4 28
 serve_4_12 obj 170.995 demand_12 1
 serve_4_12 link_4_12 1 capacity_4 31
 serve_5_1 obj 142.56 demand_1 1
 serve_5_1 link_5_1 1 capacity_5 18
 serve_5_2 obj 29.524 demand_2 1
 serve_5_2 link_5_2 1 capacity_5 6
 serve_5_3 obj 151.23 demand_3 1
 serve_5_3 link_5_3 1 capacity_5 27
 serve_5_4 obj 87.83 demand_4 1
 serve_5_4 link_5_4 1 capacity_5 21
 serve_5_5 obj 103.317 demand_5 1
 serve_5_5 link_5_5 1 capacity_5 32
 serve_5_6 obj 181.517 demand_6 1
 serve_5_6 link_5_6 1 capacity_5 19
 serve_5_7 obj 129.583 demand_7 1
 serve_5_7 link_5_7 1 capacity_5 16
 serve_5_8 obj 14.968 demand_8 1
 serve_5_8 link_5_8 1 capacity_5 6
 serve_5_9 obj 193.7 demand_9 1
 serve_5_9 link_5_9 1 capacity_5 19
 serve_5_10 obj 22.669 demand_10 1
 serve_5_10 link_5_10 1 capacity_5 24
 serve_5_11 obj 210.773 demand_11 1
 serve_5_11 link_5_11 1 capacity_5 28
 serve_5_12 obj 276.519 demand_12 1
 serve_5_12 link_5_12 1 capacity_5 31
 serve_6_1 obj 88.591 demand_1 1
 serve_6_1 link_6_1 1 capacity_6 18
 serve_6_2 obj 27.492 demand_2 1
 serve_6_2 link_6_2 1 capacity_6 6
 serve_6_3 obj 171.185 demand_3 1
 serve_6_3 link_6_3 1 capacity_6 27
 serve_6_4 obj 129.222 demand_4 1
 serve_6_4 link_6_4 1 capacity_6 21
 serve_6_5 obj 82.481 demand_5 1
 serve_6_5 link_6_5 1 capacity_6 32
 serve_6_6 obj 98.34 demand_6 1
 serve_6_6 link_6_6 1 capacity_6 19
 serve_6_7 obj 44.732 demand_7 1
 serve_6_7 link_6_7 1 capacity_6 16
 serve_6_8 obj 20.198 demand_8 1
 serve_6_8 link_6_8 1 capacity_6 6
 serve_6_9 obj 139.352 demand_9 1
 serve_6_9 link_6_9 1 capacity_6 19
 serve_6_10 obj 116.27 demand_10 1
 serve_6_10 link_6_10 1 capacity_6 24
 serve_6_11 obj 76.069 demand_11 1
 serve_6_11 link_6_11 1 capacity_6 28
 serve_6_12 obj 125.349 demand_12 1
 serve_6_12 link_6_12 1 capacity_6 31
RHS
 RHS demand_1 1
 RHS demand_2 1
 RHS demand_3 1
 RHS demand_4 1
 RHS demand_5 1
 RHS demand_6 1
 RHS demand_7 1
 RHS demand_8 1
 RHS demand_9 1
 RHS demand_10 1
 RHS demand_11 1
 RHS demand_12 1
BOUNDS
 BV BOUND open_1
 BV BOUND open_2
 BV BOUND open_3
 BV BOUND open_4
 BV BOUND open_5
 BV BOUND open_6
 UP BOUND serve_1_1 1
 UP BOUND serve_1_2 1
 UP BOUND serve_1_3 1
 UP BOUND serve_1_4 1
 UP BOUND serve_1_5 1
 UP BOUND serve_1_6 1
 UP BOUND serve_1_7 1
 UP BOUND serve_1_8 1
 UP BOUND serve_1_9 1
 UP BOUND serve_1_10 1
 UP BOUND serve_1_11 1
 UP BOUND serve_1_12 1
 UP BOUND serve_2_1 1
 UP BOUND serve_2_2 1
 UP BOUND serve_2_3 1
 UP BOUND serve_2_4 1
 UP BOUND serve_2_5 1
 UP BOUND serve_2_6 1
 UP BOUND serve_2_7 1
 UP BOUND serve_2_8 1
 UP BOUND serve_2_9 1
 UP BOUND serve_2_10 1
 UP BOUND serve_2_11 1
 UP BOUND serve_2_12 1
 UP BOUND serve_3_1 1
 UP BOUND serve_3_2 1
 UP BOUND serve_3_3 1
 UP BOUND serve_3_4 1
 UP BOUND serve_3_5 1
 UP BOUND serve_3_6 1
 UP BOUND serve_3_7 1
 UP BOUND serve_3_8 1
 UP BOUND serve_3_9 1
 UP BOUND serve_3_10 1
 UP BOUND serve_3_11 1
 UP BOUND serve_3_12 1
 UP BOUND serve_4_1 1
 UP BOUND serve_4_2 1
 UP BOUND serve_4_3 1
 UP BOUND serve_4_4 1
 UP BOUND serve_4_5 1
 UP BOUND serve_4_6 1
 UP BOUND serve_4_7 1
 UP BOUND serve_4_8 1
 UP BOUND serve_4_9 1
 UP BOUND serve_4_10 1
 UP BOUND serve_4_11 1
 UP BOUND serve_4_12 1
 UP BOUND serve_5_1 1
 UP BOUND serve_5_2 1
 UP BOUND serve_5_3 1
 UP BOUND serve_5_4 1
 UP BOUND serve_5_5 1
 UP BOUND serve_5_6 1
 UP BOUND serve_5_7 1
 UP BOUND serve_5_8 1
 UP BOUND serve_5_9 1
 UP BOUND serve_5_10 1
 UP BOUND serve_5_11 1
 UP BOUND serve_5_12 1
 UP BOUND serve_6_1 1
 UP BOUND serve_6_2 1
 UP BOUND serve_6_3 1
 UP BOUND serve_6_4 1
 UP BOUND serve_6_5 1
 UP BOUND serve_6_6 1
 UP BOUND serve_6_7 1
 UP BOUND serve_6_8 1
 UP BOUND serve_6_9 1
 UP BOUND serve_6_10 1
 UP BOUND serve_6_11 1
 UP BOUND serve_6_12 1
ENDATA
