// SPDX-License-Identifier: Apache-2.0
//
// inc_start_turn: has frames pause when a start has waited long for a cycle between them.
//
// Contract
//   latency     init_valid and init_clean stand and init_take is low in cycles 0 to 14, and init_valid in 15: room is low from cycle 16 on
//   throughput  one start at a time
//   order       room stays low until init_valid falls, so that all endpoints of the group have their turn in one pause
//   stall       none: what is under way then goes on, and the start waits for no frame that has not come
//   reset       room is high
//   not done    sets nothing: CheckPipe takes the start's endpoints in cycles in which no frame can be committed. Frames of one beat right behind each
//               other leave no such cycle
`default_nettype none

module inc_start_turn (
    input  wire clk,
    input  wire rst,

    // a start offers an endpoint's state; nothing but the frames keeps it from being taken; it is
    input  wire init_valid,
    input  wire init_clean,
    input  wire init_take,

    // frames may come in
    output wire room
);

    reg [3:0] waited_reg;
    reg       pause_reg;

    assign room = !pause_reg;

    always @(posedge clk) begin
        waited_reg <= init_valid && init_clean && !init_take ? waited_reg + 4'd1 : 4'd0;
        pause_reg  <= init_valid && (pause_reg || waited_reg == 4'd15);
        if (rst) begin
            waited_reg <= 4'd0;
            pause_reg  <= 1'b0;
        end
    end

endmodule

`default_nettype wire
