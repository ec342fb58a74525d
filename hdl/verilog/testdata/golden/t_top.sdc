# SPDX-License-Identifier: Apache-2.0
#
# Timing constraints of t_top. Generated; do not edit. Times are in nanoseconds.
set_units -time ns

create_clock -name clk -period 4.000 [get_ports clk]
set_clock_uncertainty 0.120 [get_clocks clk]
set_input_delay 1.200 -clock clk [get_ports {
    rst
    s_axis_tdata[*]
    s_axis_tkeep[*]
    s_axis_tlast
    s_axis_tuser
    s_axis_tvalid
    m_axis_tready
}]
set_output_delay 1.200 -clock clk [get_ports {
    s_axis_tready
    m_axis_tdata[*]
    m_axis_tkeep[*]
    m_axis_tlast
    m_axis_tuser
    m_axis_tvalid
    seen[*]
}]

