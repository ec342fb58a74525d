# SPDX-License-Identifier: Apache-2.0
#
# What crosses between the engine's clock and the ports', for Vivado: what u250.xdc of the generated folder says of a design whose port clocks are pins, of
# one whose port clocks the CMACs make. To be read as Tcl, after synthesis: read_xdc -unmanaged crossings.tcl. Not read by Vivado here.

set engine [get_clocks -of_objects [get_pins u_clk/O]]
foreach cage {0 1} {
    set port [get_clocks -of_objects [get_pins u_qsfp$cage/u_cmac/gt_txusrclk2]]
    # a period of the faster, 322.265625 MHz
    set_max_delay -datapath_only -from $engine -to $port 3.103
    set_max_delay -datapath_only -from $port -to $engine 3.103
}
# the bits of a count differ by less than a period of the clock that steps it
foreach count [get_cells -hierarchical -filter {ORIG_REF_NAME == inc_cdc_count || REF_NAME == inc_cdc_count}] {
    set from [get_cells $count/gray_reg_reg[*]]
    set period [get_property PERIOD [get_clocks -of_objects [lindex $from 0]]]
    set_bus_skew -from $from -to [get_cells $count/meta_reg_reg[*]] $period
}
# the reset of a port's side has no time to keep
foreach reset [get_cells -hierarchical -filter {ORIG_REF_NAME == inc_cdc_reset || REF_NAME == inc_cdc_reset}] {
    set_false_path -to [get_pins $reset/far_reg_reg[*]/PRE]
}
set_false_path -to [get_pins {rst_reg_reg[*]/PRE init_rst_reg_reg[*]/PRE}]
