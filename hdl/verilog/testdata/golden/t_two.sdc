# SPDX-License-Identifier: Apache-2.0
#
# Timing constraints of t_two. Generated; do not edit. Times are in nanoseconds.
set_units -time ns

create_clock -name clk -period 1.000 [get_ports clk]
set_clock_uncertainty 0.030 [get_clocks clk]
set_input_delay 0.300 -clock clk [get_ports {
    a[*]
}]

create_clock -name clk_b -period 3.103 [get_ports clk_b]
set_clock_uncertainty 0.093 [get_clocks clk_b]
set_input_delay 0.931 -clock clk_b [get_ports {
    b
}]
set_output_delay 0.931 -clock clk_b [get_ports {
    y[*]
}]

set_max_delay 1.000 -from [get_clocks clk] -to [get_clocks clk_b]
set_max_delay 1.000 -from [get_clocks clk_b] -to [get_clocks clk]
set_false_path -hold -from [get_clocks clk] -to [get_clocks clk_b]
set_false_path -hold -from [get_clocks clk_b] -to [get_clocks clk]

set_false_path -from [get_ports {mode[*]}]
set_false_path -to [get_ports {busy}]
