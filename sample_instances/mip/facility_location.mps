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
 L link_7_1
 L link_7_2
 L link_7_3
 L link_7_4
 L link_7_5
 L link_7_6
 L link_7_7
 L link_7_8
 L link_7_9
 L link_7_10
 L link_7_11
 L link_7_12
 L link_8_1
 L link_8_2
 L link_8_3
 L link_8_4
 L link_8_5
 L link_8_6
 L link_8_7
 L link_8_8
 L link_8_9
 L link_8_10
 L link_8_11
 L link_8_12
 L link_9_1
 L link_9_2
 L link_9_3
 L link_9_4
 L link_9_5
 L link_9_6
 L link_9_7
 L link_9_8
 L link_9_9
 L link_9_10
 L link_9_11
 L link_9_12
 L link_10_1
 L link_10_2
 L link_10_3
 L link_10_4
 L link_10_5
 L link_10_6
 L link_10_7
 L link_10_8
 L link_10_9
 L link_10_10
 L link_10_11
 L link_10_12
 L capacity_1
 L capacity_2
 L capacity_3
 L capacity_4
 L capacity_5
 L capacity_6
 L capacity_7
 L capacity_8
 L capacity_9
 L capacity_10
COLUMNS
 M0 'MARKER' 'INTORG'
 open_1 obj 631.109 link_1_1 -1
 open_1 link_1_2 -1 link_1_3 -1
 open_1 link_1_4 -1 link_1_5 -1
 open_1 link_1_6 -1 link_1_7 -1
 open_1 link_1_8 -1 link_1_9 -1
 open_1 link_1_10 -1 link_1_11 -1
 open_1 link_1_12 -1 capacity_1 -30
 open_2 obj 1316.285 link_2_1 -1
 open_2 link_2_2 -1 link_2_3 -1
 open_2 link_2_4 -1 link_2_5 -1
 open_2 link_2_6 -1 link_2_7 -1
 open_2 link_2_8 -1 link_2_9 -1
 open_2 link_2_10 -1 link_2_11 -1
 open_2 link_2_12 -1 capacity_2 -167
 open_3 obj 1466.595 link_3_1 -1
 open_3 link_3_2 -1 link_3_3 -1
 open_3 link_3_4 -1 link_3_5 -1
 open_3 link_3_6 -1 link_3_7 -1
 open_3 link_3_8 -1 link_3_9 -1
 open_3 link_3_10 -1 link_3_11 -1
 open_3 link_3_12 -1 capacity_3 -184
 open_4 obj 1502.461 link_4_1 -1
 open_4 link_4_2 -1 link_4_3 -1
 open_4 link_4_4 -1 link_4_5 -1
 open_4 link_4_6 -1 link_4_7 -1
 open_4 link_4_8 -1 link_4_9 -1
 open_4 link_4_10 -1 link_4_11 -1
 open_4 link_4_12 -1 capacity_4 -190
 open_5 obj 1622.881 link_5_1 -1
 open_5 link_5_2 -1 link_5_3 -1
 open_5 link_5_4 -1 link_5_5 -1
 open_5 link_5_6 -1 link_5_7 -1
 open_5 link_5_8 -1 link_5_9 -1
 open_5 link_5_10 -1 link_5_11 -1
 open_5 link_5_12 -1 capacity_5 -209
 open_6 obj 880.932 link_6_1 -1
 open_6 link_6_2 -1 link_6_3 -1
 open_6 link_6_4 -1 link_6_5 -1
 open_6 link_6_6 -1 link_6_7 -1
 open_6 link_6_8 -1 link_6_9 -1
 open_6 link_6_10 -1 link_6_11 -1
 open_6 link_6_12 -1 capacity_6 -57
 open_7 obj 1303.46 link_7_1 -1
 open_7 link_7_2 -1 link_7_3 -1
 open_7 link_7_4 -1 link_7_5 -1
 open_7 link_7_6 -1 link_7_7 -1
 open_7 link_7_8 -1 link_7_9 -1
 open_7 link_7_10 -1 link_7_11 -1
 open_7 link_7_12 -1 capacity_7 -138
 open_8 obj 1583.194 link_8_1 -1
 open_8 link_8_2 -1 link_8_3 -1
 open_8 link_8_4 -1 link_8_5 -1
 open_8 link_8_6 -1 link_8_7 -1
 open_8 link_8_8 -1 link_8_9 -1
 open_8 link_8_10 -1 link_8_11 -1
 open_8 link_8_12 -1 capacity_8 -194
 open_9 obj 1040.92 link_9_1 -1
 open_9 link_9_2 -1 link_9_3 -1
 open_9 link_9_4 -1 link_9_5 -1
 open_9 link_9_6 -1 link_9_7 -1
 open_9 link_9_8 -1 link_9_9 -1
 open_9 link_9_10 -1 link_9_11 -1
 open_9 link_9_12 -1 capacity_9 -95
 open_10 obj 868.733 link_10_1 -1
 open_10 link_10_2 -1 link_10_3 -1
 open_10 link_10_4 -1 link_10_5 -1
 open_10 link_10_6 -1 link_10_7 -1
 open_10 link_10_8 -1 link_10_9 -1
 open_10 link_10_10 -1 link_10_11 -1
 open_10 link_10_12 -1 capacity_10 -57
 M1 'MARKER' 'INTEND'
 serve_1_1 obj 106.687 demand_1 1
 serve_1_1 link_1_1 1 capacity_1 15
 serve_1_2 obj 12.499 demand_2 1
 serve_1_2 link_1_2 1 capacity_1 31
 serve_1_3 obj 115.752 demand_3 1
 serve_1_3 link_1_3 1 capacity_1 23
 serve_1_4 obj 134.843 demand_4 1
 serve_1_4 link_1_4 1 capacity_1 20
 serve_1_5 obj 87.927 demand_5 1
 serve_1_5 link_1_5 1 capacity_1 25
 serve_1_6 obj 166.922 demand_6 1
 serve_1_6 link_1_6 1 capacity_1 20
 serve_1_7 obj 72.298 demand_7 1
 serve_1_7 link_1_7 1 capacity_1 35
 serve_1_8 obj 29.814 demand_8 1
 serve_1_8 link_1_8 1 capacity_1 28
 serve_1_9 obj 37.994 demand_9 1
 serve_1_9 link_1_9 1 capacity_1 6
 serve_1_10 obj 80.07 demand_10 1
 serve_1_10 link_1_10 1 capacity_1 9
 serve_1_11 obj 34.084 demand_11 1
 serve_1_11 link_1_11 1 capacity_1 21
 serve_1_12 obj 208.535 demand_12 1
 serve_1_12 link_1_12 1 capacity_1 30
 serve_2_1 obj 135.335 demand_1 1
 serve_2_1 link_2_1 1 capacity_2 15
 serve_2_2 obj 106.187 demand_2 1
 serve_2_2 link_2_2 1 capacity_2 31
 serve_2_3 obj 194.947 demand_3 1
 serve_2_3 link_2_3 1 capacity_2 23
 serve_2_4 obj 156.067 demand_4 1
 serve_2_4 link_2_4 1 capacity_2 20
 serve_2_5 obj 6.73 demand_5 1
 serve_2_5 link_2_5 1 capacity_2 25
 serve_2_6 obj 182.411 demand_6 1
 serve_2_6 link_2_6 1 capacity_2 20
 serve_2_7 obj 178.236 demand_7 1
 serve_2_7 link_2_7 1 capacity_2 35
 serve_2_8 obj 131.569 demand_8 1
 serve_2_8 link_2_8 1 capacity_2 28
 serve_2_9 obj 25.973 demand_9 1
 serve_2_9 link_2_9 1 capacity_2 6
 serve_2_10 obj 84.66 demand_10 1
 serve_2_10 link_2_10 1 capacity_2 9
 serve_2_11 obj 106.335 demand_11 1
 serve_2_11 link_2_11 1 capacity_2 21
 serve_2_12 obj 246.568 demand_12 1
 serve_2_12 link_2_12 1 capacity_2 30
 serve_3_1 obj 69.185 demand_1 1
 serve_3_1 link_3_1 1 capacity_3 15
 serve_3_2 obj 180.961 demand_2 1
 serve_3_2 link_3_2 1 capacity_3 31
 serve_3_3 obj 164.76 demand_3 1
 serve_3_3 link_3_3 1 capacity_3 23
 serve_3_4 obj 54.43 demand_4 1
 serve_3_4 link_3_4 1 capacity_3 20
 serve_3_5 obj 141.78 demand_5 1
 serve_3_5 link_3_5 1 capacity_3 25
 serve_3_6 obj 73.823 demand_6 1
 serve_3_6 link_3_6 1 capacity_3 20
 serve_3_7 obj 164.906 demand_7 1
 serve_3_7 link_3_7 1 capacity_3 35
 serve_3_8 obj 161.992 demand_8 1
 serve_3_8 link_3_8 1 capacity_3 28
 serve_3_9 obj 17.513 demand_9 1
 serve_3_9 link_3_9 1 capacity_3 6
 serve_3_10 obj 35.096 demand_10 1
 serve_3_10 link_3_10 1 capacity_3 9
 serve_3_11 obj 113.647 demand_11 1
 serve_3_11 link_3_11 1 capacity_3 21
 serve_3_12 obj 97.519 demand_12 1
 serve_3_12 link_3_12 1 capacity_3 30
 serve_4_1 obj 22.534 demand_1 1
 serve_4_1 link_4_1 1 capacity_4 15
 serve_4_2 obj 206.556 demand_2 1
 serve_4_2 link_4_2 1 capacity_4 31
 serve_4_3 obj 78.854 demand_3 1
 serve_4_3 link_4_3 1 capacity_4 23
 serve_4_4 obj 63.111 demand_4 1
 serve_4_4 link_4_4 1 capacity_4 20
 serve_4_5 obj 217.855 demand_5 1
 serve_4_5 link_4_5 1 capacity_4 25
 serve_4_6 obj 85.594 demand_6 1
 serve_4_6 link_4_6 1 capacity_4 20
 serve_4_7 obj 147.145 demand_7 1
 serve_4_7 link_4_7 1 capacity_4 35
 serve_4_8 obj 154.447 demand_8 1
 serve_4_8 link_4_8 1 capacity_4 28
 serve_4_9 obj 47.826 demand_9 1
 serve_4_9 link_4_9 1 capacity_4 6
 serve_4_10 obj 45.537 demand_10 1
 serve_4_10 link_4_10 1 capacity_4 9
 serve_4_11 obj 101.012 demand_11 1
 serve_4_11 link_4_11 1 capacity_4 21
 serve_4_12 obj 83.433 demand_12 1
 serve_4_12 link_4_12 1 capacity_4 30
 serve_5_1 obj 48.43 demand_1 1
 serve_5_1 link_5_1 1 capacity_5 15
 serve_5_2 obj 296.159 demand_2 1
 serve_5_2 link_5_2 1 capacity_5 31
 serve_5_3 obj 186.275 demand_3 1
 serve_5_3 link_5_3 1 capacity_5 23
 serve_5_4 obj 49.894 demand_4 1
 serve_5_4 link_5_4 1 capacity_5 20
 serve_5_5 obj 254.869 demand_5 1
 serve_5_5 link_5_5 1 capacity_5 25
 serve_5_6 obj 18.891 demand_6 1
 serve_5_6 link_5_6 1 capacity_5 20
 serve_5_7 obj 263.466 demand_7 1
 serve_5_7 link_5_7 1 capacity_5 35
 serve_5_8 obj 249.759 demand_8 1
 serve_5_8 link_5_8 1 capacity_5 28
 serve_5_9 obj 42.896 demand_9 1
 serve_5_9 link_5_9 1 capacity_5 6
 serve_5_10 obj 8.706 demand_10 1
 serve_5_10 link_5_10 1 capacity_5 9
 serve_5_11 obj 174.333 demand_11 1
 serve_5_11 link_5_11 1 capacity_5 21
 serve_5_12 obj 70.963 demand_12 1
 serve_5_12 link_5_12 1 capacity_5 30
 serve_6_1 obj 38.663 demand_1 1
 serve_6_1 link_6_1 1 capacity_6 15
 serve_6_2 obj 160.449 demand_2 1
 serve_6_2 link_6_2 1 capacity_6 31
 serve_6_3 obj 64.302 demand_3 1
 serve_6_3 link_6_3 1 capacity_6 23
 serve_6_4 obj 67.326 demand_4 1
 serve_6_4 link_6_4 1 capacity_6 20
 serve_6_5 obj 183.358 demand_5 1
 serve_6_5 link_6_5 1 capacity_6 25
 serve_6_6 obj 96.891 demand_6 1
 serve_6_6 link_6_6 1 capacity_6 20
 serve_6_7 obj 95.086 demand_7 1
 serve_6_7 link_6_7 1 capacity_6 35
 serve_6_8 obj 113.219 demand_8 1
 serve_6_8 link_6_8 1 capacity_6 28
 serve_6_9 obj 42.839 demand_9 1
 serve_6_9 link_6_9 1 capacity_6 6
 serve_6_10 obj 50.345 demand_10 1
 serve_6_10 link_6_10 1 capacity_6 9
 serve_6_11 obj 70.119 demand_11 1
 serve_6_11 link_6_11 1 capacity_6 21
 serve_6_12 obj 96.324 demand_12 1
 serve_6_12 link_6_12 1 capacity_6 30
 serve_7_1 obj 98.934 demand_1 1
 serve_7_1 link_7_1 1 capacity_7 15
 serve_7_2 obj 76.659 demand_2 1
 serve_7_2 link_7_2 1 capacity_7 31
 serve_7_3 obj 146.078 demand_3 1
 serve_7_3 link_7_3 1 capacity_7 23
 serve_7_4 obj 110.707 demand_4 1
 serve_7_4 link_7_4 1 capacity_7 20
 serve_7_5 obj 62.013 demand_5 1
 serve_7_5 link_7_5 1 capacity_7 25
 serve_7_6 obj 139.58 demand_6 1
 serve_7_6 link_7_6 1 capacity_7 20
 serve_7_7 obj 102.897 demand_7 1
 serve_7_7 link_7_7 1 capacity_7 35
 serve_7_8 obj 87.138 demand_8 1
 serve_7_8 link_7_8 1 capacity_7 28
 serve_7_9 obj 23.369 demand_9 1
 serve_7_9 link_7_9 1 capacity_7 6
 serve_7_10 obj 66.38 demand_10 1
 serve_7_10 link_7_10 1 capacity_7 9
 serve_7_11 obj 66.81 demand_11 1
 serve_7_11 link_7_11 1 capacity_7 21
 serve_7_12 obj 177.08 demand_12 1
 serve_7_12 link_7_12 1 capacity_7 30
 serve_8_1 obj 71.925 demand_1 1
 serve_8_1 link_8_1 1 capacity_8 15
 serve_8_2 obj 172.908 demand_2 1
 serve_8_2 link_8_2 1 capacity_8 31
 serve_8_3 obj 163.797 demand_3 1
 serve_8_3 link_8_3 1 capacity_8 23
 serve_8_4 obj 59.279 demand_4 1
 serve_8_4 link_8_4 1 capacity_8 20
 serve_8_5 obj 133.935 demand_5 1
 serve_8_5 link_8_5 1 capacity_8 25
 serve_8_6 obj 79.828 demand_6 1
 serve_8_6 link_8_6 1 capacity_8 20
 serve_8_7 obj 159.255 demand_7 1
 serve_8_7 link_8_7 1 capacity_8 35
 serve_8_8 obj 156.172 demand_8 1
 serve_8_8 link_8_8 1 capacity_8 28
 serve_8_9 obj 16.445 demand_9 1
 serve_8_9 link_8_9 1 capacity_8 6
 serve_8_10 obj 37.905 demand_10 1
 serve_8_10 link_8_10 1 capacity_8 9
 serve_8_11 obj 109.853 demand_11 1
 serve_8_11 link_8_11 1 capacity_8 21
 serve_8_12 obj 104.509 demand_12 1
 serve_8_12 link_8_12 1 capacity_8 30
 serve_9_1 obj 94.263 demand_1 1
 serve_9_1 link_9_1 1 capacity_9 15
 serve_9_2 obj 209.555 demand_2 1
 serve_9_2 link_9_2 1 capacity_9 31
 serve_9_3 obj 204.224 demand_3 1
 serve_9_3 link_9_3 1 capacity_9 23
 serve_9_4 obj 85.26 demand_4 1
 serve_9_4 link_9_4 1 capacity_9 20
 serve_9_5 obj 141.859 demand_5 1
 serve_9_5 link_9_5 1 capacity_9 25
 serve_9_6 obj 95.594 demand_6 1
 serve_9_6 link_9_6 1 capacity_9 20
 serve_9_7 obj 215.503 demand_7 1
 serve_9_7 link_9_7 1 capacity_9 35
 serve_9_8 obj 196.757 demand_8 1
 serve_9_8 link_9_8 1 capacity_9 28
 serve_9_9 obj 9.423 demand_9 1
 serve_9_9 link_9_9 1 capacity_9 6
 serve_9_10 obj 42.399 demand_10 1
 serve_9_10 link_9_10 1 capacity_9 9
 serve_9_11 obj 142.337 demand_11 1
 serve_9_11 link_9_11 1 capacity_9 21
 serve_9_12 obj 144.2 demand_12 1
 serve_9_12 link_9_12 1 capacity_9 30
 serve_10_1 obj 82.081 demand_1 1
 serve_10_1 link_10_1 1 capacity_10 15
 serve_10_2 obj 239.224 demand_2 1
 serve_10_2 link_10_2 1 capacity_10 31
 serve_10_3 obj 204.267 demand_3 1
 serve_10_3 link_10_3 1 capacity_10 23
 serve_10_4 obj 67.617 demand_4 1
 serve_10_4 link_10_4 1 capacity_10 20
 serve_10_5 obj 177.226 demand_5 1
 serve_10_5 link_10_5 1 capacity_10 25
 serve_10_6 obj 69.043 demand_6 1
 serve_10_6 link_10_6 1 capacity_10 20
 serve_10_7 obj 232.429 demand_7 1
 serve_10_7 link_10_7 1 capacity_10 35
 serve_10_8 obj 216.296 demand_8 1
 serve_10_8 link_10_8 1 capacity_10 28
 serve_10_9 obj 18.759 demand_9 1
 serve_10_9 link_10_9 1 capacity_10 6
 serve_10_10 obj 29.227 demand_10 1
 serve_10_10 link_10_10 1 capacity_10 9
 serve_10_11 obj 154.348 demand_11 1
 serve_10_11 link_10_11 1 capacity_10 21
 serve_10_12 obj 116.848 demand_12 1
 serve_10_12 link_10_12 1 capacity_10 30
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
 BV BOUND open_7
 BV BOUND open_8
 BV BOUND open_9
 BV BOUND open_10
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
 UP BOUND serve_7_1 1
 UP BOUND serve_7_2 1
 UP BOUND serve_7_3 1
 UP BOUND serve_7_4 1
 UP BOUND serve_7_5 1
 UP BOUND serve_7_6 1
 UP BOUND serve_7_7 1
 UP BOUND serve_7_8 1
 UP BOUND serve_7_9 1
 UP BOUND serve_7_10 1
 UP BOUND serve_7_11 1
 UP BOUND serve_7_12 1
 UP BOUND serve_8_1 1
 UP BOUND serve_8_2 1
 UP BOUND serve_8_3 1
 UP BOUND serve_8_4 1
 UP BOUND serve_8_5 1
 UP BOUND serve_8_6 1
 UP BOUND serve_8_7 1
 UP BOUND serve_8_8 1
 UP BOUND serve_8_9 1
 UP BOUND serve_8_10 1
 UP BOUND serve_8_11 1
 UP BOUND serve_8_12 1
 UP BOUND serve_9_1 1
 UP BOUND serve_9_2 1
 UP BOUND serve_9_3 1
 UP BOUND serve_9_4 1
 UP BOUND serve_9_5 1
 UP BOUND serve_9_6 1
 UP BOUND serve_9_7 1
 UP BOUND serve_9_8 1
 UP BOUND serve_9_9 1
 UP BOUND serve_9_10 1
 UP BOUND serve_9_11 1
 UP BOUND serve_9_12 1
 UP BOUND serve_10_1 1
 UP BOUND serve_10_2 1
 UP BOUND serve_10_3 1
 UP BOUND serve_10_4 1
 UP BOUND serve_10_5 1
 UP BOUND serve_10_6 1
 UP BOUND serve_10_7 1
 UP BOUND serve_10_8 1
 UP BOUND serve_10_9 1
 UP BOUND serve_10_10 1
 UP BOUND serve_10_11 1
 UP BOUND serve_10_12 1
ENDATA
