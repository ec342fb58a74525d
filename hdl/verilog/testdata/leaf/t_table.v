// SPDX-License-Identifier: Apache-2.0
//
// t_table: counts headers by the low bits of their PSN.
`default_nettype none

module t_table #(
    parameter ADDR_W = 4
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        hdr_valid,
    input  wire [23:0] hdr_psn,
    input  wire [7:0]  hdr_opcode,
    input  wire [2:0]  mode,
    output wire [31:0] seen,
    output wire [15:0] age
);

    wire [31:0] word;
    reg         valid_reg;
    reg  [23:0] psn_reg;

    assign seen = word;
    assign age  = {13'd0, mode};

    t_ram #(
        .ADDR_W (ADDR_W)
    ) u_counts (
        .clk   (clk),
        .raddr (hdr_psn[ADDR_W-1:0]),
        .rdata (word),
        .wen   (valid_reg),
        .waddr (psn_reg[ADDR_W-1:0]),
        .wdata ({hdr_opcode, word[23:0] ^ psn_reg})
    );

    always @(posedge clk) begin
        psn_reg   <= hdr_psn;
        valid_reg <= hdr_valid && !rst;
    end

endmodule

`default_nettype wire
