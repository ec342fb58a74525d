// The adder, as a plain file list.
+incdir+inc
+define+BASE=16'd3
adder.v   # the only file
