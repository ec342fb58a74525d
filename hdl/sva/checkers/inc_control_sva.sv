// SPDX-License-Identifier: Apache-2.0
//
// inc_control_sva: a frame is of one range at most and of one kind; a range opens when none is being opened; offsets change with an opening or
// a start alone.
`default_nettype none

module inc_control_sva #(
    parameter ONE_PORT = 0
) (
    input wire  clk,
    input wire  rst,

    input wire  ctl_map,
    input wire  in_cur,
    input wire  in_prev,
    input wire  map_opens,
    input wire  map_bad_control,
    input wire  map_wrong_role,
    input wire  map_up,
    input wire  map_down,
    input wire  ctl_open,
    input wire  busy_reg,
    input wire  waits_reg,
    input wire  ctl_rd,
    input wire  walk_reads,
    input wire  init_valid,
    input wire  init_take,
    input wire  off_we
);

    reg known_reg;                          // a frame was looked at since the reset

    // nothing is judged before the first reset
    reg live_reg;
    initial live_reg = 1'b0;

    always @(posedge clk) begin
        live_reg  <= live_reg || rst;
        known_reg <= !rst && (known_reg || ctl_map);
        if (live_reg && !rst) begin
            begin : one_range assert (!known_reg || !(in_cur && in_prev)); end
            begin : one_kind assert (!known_reg || !((map_opens && (map_bad_control || map_wrong_role)) || (map_bad_control && map_wrong_role))); end
            begin : no_kind_in_a_range assert (!known_reg || !(in_cur || in_prev) || !(map_opens || map_bad_control || map_wrong_role)); end
            begin : one_role assert (!known_reg || !(map_up && map_down)); end
            begin : one_opening assert (!ctl_open || !busy_reg); end
            begin : start_waits_for_opening assert (!init_take || (init_valid && !busy_reg)); end
            begin : offsets_have_a_reason assert (!off_we || busy_reg || init_take); end
            begin : one_access assert (ONE_PORT == 0 || !(off_we && (ctl_rd || walk_reads))); end
            begin : start_has_its_turn assert (!(waits_reg && ctl_rd)); end
        end
    end

endmodule

`default_nettype wire
