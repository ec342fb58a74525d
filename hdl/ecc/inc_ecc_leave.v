// SPDX-License-Identifier: Apache-2.0
//
// inc_ecc_leave: err of a frame that leaves by a port, of what its queue's memory says of the words behind it.
//
// Contract
//   err         that of the word which stands at the memory's output. A beat is made of that word in the cycle before it is offered first
//   user        err of the frame, valid with the last beat; it stays while the beat is offered
//   latency     1 cycle from err to user
//   throughput  a beat a cycle
//   stall       none of its own
//   reset       no beat is offered
//   not done    does not look at the beat: what user is with other beats than a frame's last means nothing
`default_nettype none

module inc_ecc_leave (
    input  wire clk,
    input  wire rst,

    input  wire err,
    input  wire valid,
    input  wire ready,
    output wire user
);

    reg err_reg;                           // of the word in the cycle before
    reg stands_reg;                        // the beat was offered before
    reg user_reg;

    assign user = stands_reg ? user_reg : err_reg;

    always @(posedge clk) begin
        err_reg    <= err;
        stands_reg <= valid && !ready;
        user_reg   <= user;
        if (rst) begin
            stands_reg <= 1'b0;
        end
    end

endmodule

`default_nettype wire
