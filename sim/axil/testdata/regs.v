// SPDX-License-Identifier: Apache-2.0

// Four registers behind AXI4-Lite; address 0x10 answers SLVERR, 0x14 DECERR, 0x18
// never. `fault` breaks the rule it names.
module regs (
    input  wire        clk,
    input  wire        rst,
    input  wire [2:0]  fault,
    input  wire [7:0]  s_axil_awaddr,
    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [31:0] s_axil_wdata,
    input  wire [3:0]  s_axil_wstrb,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    output reg  [1:0]  s_axil_bresp,
    output reg         s_axil_bvalid,
    input  wire        s_axil_bready,
    input  wire [7:0]  s_axil_araddr,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    output reg  [31:0] s_axil_rdata,
    output reg  [1:0]  s_axil_rresp,
    output reg         s_axil_rvalid,
    input  wire        s_axil_rready
);
    reg  [31:0] file [0:3];
    reg  [7:0]  aw;
    reg  [31:0] wd;
    reg  [3:0]  ws;
    reg         have_aw, have_w;
    integer     i;

    assign s_axil_awready = !have_aw;
    assign s_axil_wready  = !have_w;
    assign s_axil_arready = !s_axil_rvalid;

    function [1:0] response(input [7:0] addr);
        response = addr == 8'h10 ? 2'd2 : addr == 8'h14 ? 2'd3 : 2'd0;
    endfunction

    always @(posedge clk) begin
        if (s_axil_awvalid && s_axil_awready) {have_aw, aw} <= {1'b1, s_axil_awaddr};
        if (s_axil_wvalid && s_axil_wready) {have_w, ws, wd} <= {1'b1, s_axil_wstrb, s_axil_wdata};
        if (have_aw && have_w && !s_axil_bvalid && aw != 8'h18) begin
            for (i = 0; i < 4; i = i + 1)
                if (ws[i] && aw < 8'h10) file[aw[3:2]][8*i+:8] <= wd[8*i+:8];
            s_axil_bvalid <= 1'b1;
            s_axil_bresp  <= response(aw);
        end
        if (s_axil_bvalid && s_axil_bready) {s_axil_bvalid, have_aw, have_w} <= 3'b000;

        if (s_axil_arvalid && s_axil_arready && s_axil_araddr != 8'h18) begin
            s_axil_rvalid <= 1'b1;
            s_axil_rdata  <= file[s_axil_araddr[3:2]];
            s_axil_rresp  <= response(s_axil_araddr);
        end
        if (s_axil_rvalid && s_axil_rready) s_axil_rvalid <= 1'b0;

        if (fault == 3'd1 && s_axil_rvalid && !s_axil_rready) s_axil_rvalid <= 1'b0;
        if (fault == 3'd2 && s_axil_rvalid && !s_axil_rready) s_axil_rdata <= ~s_axil_rdata;
        if (fault == 3'd3) s_axil_bvalid <= 1'b1;
        if (rst) begin
            s_axil_bvalid <= fault == 3'd4;
            s_axil_rvalid <= 1'b0;
            have_aw       <= 1'b0;
            have_w        <= 1'b0;
        end
    end
endmodule
