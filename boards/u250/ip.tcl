# SPDX-License-Identifier: Apache-2.0
#
# A project of the top u250 for Vivado: the IP, the sources, synthesis to a bitstream. Takes the generated folder: vivado -mode batch -source ip.tcl -tclargs
# GENERATED. Not run here; a licence for the CMAC, which AMD gives without charge, is needed.

set here [file dirname [file normalize [info script]]]
set generated [file normalize [lindex $argv 0]]
create_project -force u250 build_u250 -part xcu250-figd2104-2-e

proc cage {number core quad} {
    create_ip -name cmac_usplus -vendor xilinx.com -library ip -module_name cmac_usplus_$number
    set_property -dict [list CONFIG.CMAC_CAUI4_MODE {1} CONFIG.NUM_LANES {4x25} CONFIG.USER_INTERFACE {AXIS} CONFIG.GT_REF_CLK_FREQ {161.1328125} \
        CONFIG.GT_DRP_CLK {100.00} CONFIG.TX_FLOW_CONTROL {1} CONFIG.RX_FLOW_CONTROL {1} CONFIG.RX_MAX_PACKET_LEN {9600} CONFIG.RX_MIN_PACKET_LEN {64} \
        CONFIG.INCLUDE_RS_FEC {0} CONFIG.CMAC_CORE_SELECT $core CONFIG.GT_GROUP_SELECT "X1Y${quad}~X1Y[expr {$quad + 3}]" \
        CONFIG.LANE1_GT_LOC "X1Y$quad" CONFIG.LANE2_GT_LOC "X1Y[expr {$quad + 1}]" CONFIG.LANE3_GT_LOC "X1Y[expr {$quad + 2}]" \
        CONFIG.LANE4_GT_LOC "X1Y[expr {$quad + 3}]"] [get_ips cmac_usplus_$number]
}
cage 0 CMACE4_X0Y8 44
cage 1 CMACE4_X0Y7 40
create_ip -name jtag_axi -vendor xilinx.com -library ip -module_name jtag_axi_0
set_property -dict [list CONFIG.PROTOCOL {2}] [get_ips jtag_axi_0]

add_files [glob $generated/rtl/*.v]
add_files [glob $here/u250.v $here/u250_qsfp*.v]
add_files [glob $here/../../hdl/mac/inc_mac_guard.v $here/../../hdl/mac/inc_mac_pause.v $here/../../hdl/mac/inc_mac_cmac.v]
add_files -fileset constrs_1 $here/u250.xdc
add_files -fileset constrs_1 $here/crossings.tcl
set_property used_in_synthesis false [get_files crossings.tcl]
set_property top u250 [current_fileset]
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
