// SPDX-License-Identifier: Apache-2.0
//
// inc_priority_regs: the table that gives a frame its priority, between the register bus and the other registers.
//
// Contract
//   registers   word d of the page: the priority of IPv4 packets with DSCP d. Word 64 + p: that of frames with PCP p in a tag. Bits above a
//               priority's are ignored and read 0
//   table       a word that was written is out in the cycle of the write response
//   access      as inc_page: all that is not of the page is answered by whoever is behind m_axil
//   latency     as inc_page
//   throughput  as inc_page
//   stall       an answer waits for bready or rready
//   reset       priority 0 everywhere
//   not done    no table for each port
`default_nettype none

module inc_priority_regs #(
    // bits of a byte address, 16 to 22
    parameter AXIL_W = 16,
    // number of the page of 512 bytes
    parameter PAGE   = 38,
    // bits of a priority, 1 to 3
    parameter WIDTH  = 1
) (
    input  wire                   clk,
    input  wire                   rst,

    input  wire [AXIL_W-1:0]      s_axil_awaddr,
    input  wire                   s_axil_awvalid,
    output wire                   s_axil_awready,
    input  wire [31:0]            s_axil_wdata,
    input  wire [3:0]             s_axil_wstrb,
    input  wire                   s_axil_wvalid,
    output wire                   s_axil_wready,
    output wire [1:0]             s_axil_bresp,
    output wire                   s_axil_bvalid,
    input  wire                   s_axil_bready,
    input  wire [AXIL_W-1:0]      s_axil_araddr,
    input  wire                   s_axil_arvalid,
    output wire                   s_axil_arready,
    output wire [31:0]            s_axil_rdata,
    output wire [1:0]             s_axil_rresp,
    output wire                   s_axil_rvalid,
    input  wire                   s_axil_rready,

    output wire [AXIL_W-1:0]      m_axil_awaddr,
    output wire                   m_axil_awvalid,
    input  wire                   m_axil_awready,
    output wire [31:0]            m_axil_wdata,
    output wire [3:0]             m_axil_wstrb,
    output wire                   m_axil_wvalid,
    input  wire                   m_axil_wready,
    input  wire [1:0]             m_axil_bresp,
    input  wire                   m_axil_bvalid,
    output wire                   m_axil_bready,
    output wire [AXIL_W-1:0]      m_axil_araddr,
    output wire                   m_axil_arvalid,
    input  wire                   m_axil_arready,
    input  wire [31:0]            m_axil_rdata,
    input  wire [1:0]             m_axil_rresp,
    input  wire                   m_axil_rvalid,
    output wire                   m_axil_rready,

    // that of DSCP d at [d*WIDTH +: WIDTH], that of PCP p at [(64 + p)*WIDTH +: WIDTH]
    output wire [72*WIDTH-1:0]    priorities
);

`ifndef __ICARUS__
    generate
        if (AXIL_W < 16 || AXIL_W > 22) begin : gen_bad_axil
            $error("inc_priority_regs: AXIL_W must be 16 to 22");
        end
        if (PAGE < 0 || PAGE >= (1 << (AXIL_W - 9))) begin : gen_bad_page
            $error("inc_priority_regs: PAGE must be one of the pages of AXIL_W bits");
        end
        if (WIDTH < 1 || WIDTH > 3) begin : gen_bad_width
            $error("inc_priority_regs: WIDTH must be 1 to 3");
        end
    endgenerate
`endif

    localparam [6:0] WORDS = 7'd72;

    wire        we;
    wire [6:0]  wword, rword;
    wire [31:0] wdata;
    reg  [WIDTH-1:0] found, found_reg;

    inc_page #(.AXIL_W(AXIL_W), .PAGE_W(9), .PAGE(PAGE)) u_page (
        .clk            (clk),
        .rst            (rst),
        .s_axil_awaddr  (s_axil_awaddr),
        .s_axil_awvalid (s_axil_awvalid),
        .s_axil_awready (s_axil_awready),
        .s_axil_wdata   (s_axil_wdata),
        .s_axil_wstrb   (s_axil_wstrb),
        .s_axil_wvalid  (s_axil_wvalid),
        .s_axil_wready  (s_axil_wready),
        .s_axil_bresp   (s_axil_bresp),
        .s_axil_bvalid  (s_axil_bvalid),
        .s_axil_bready  (s_axil_bready),
        .s_axil_araddr  (s_axil_araddr),
        .s_axil_arvalid (s_axil_arvalid),
        .s_axil_arready (s_axil_arready),
        .s_axil_rdata   (s_axil_rdata),
        .s_axil_rresp   (s_axil_rresp),
        .s_axil_rvalid  (s_axil_rvalid),
        .s_axil_rready  (s_axil_rready),
        .m_axil_awaddr  (m_axil_awaddr),
        .m_axil_awvalid (m_axil_awvalid),
        .m_axil_awready (m_axil_awready),
        .m_axil_wdata   (m_axil_wdata),
        .m_axil_wstrb   (m_axil_wstrb),
        .m_axil_wvalid  (m_axil_wvalid),
        .m_axil_wready  (m_axil_wready),
        .m_axil_bresp   (m_axil_bresp),
        .m_axil_bvalid  (m_axil_bvalid),
        .m_axil_bready  (m_axil_bready),
        .m_axil_araddr  (m_axil_araddr),
        .m_axil_arvalid (m_axil_arvalid),
        .m_axil_arready (m_axil_arready),
        .m_axil_rdata   (m_axil_rdata),
        .m_axil_rresp   (m_axil_rresp),
        .m_axil_rvalid  (m_axil_rvalid),
        .m_axil_rready  (m_axil_rready),
        .we             (we),
        .wword          (wword),
        .wdata          (wdata),
        .exists         (wword < WORDS),
        .rword          (rword),
        .rdata          ({{(32-WIDTH){1'b0}}, found_reg}),
        .known          (rword < WORDS)
    );

    genvar g;
    generate
        for (g = 0; g < 72; g = g + 1) begin : gen_word
            localparam [6:0] NUMBER = g;
            reg [WIDTH-1:0] priority_reg;
            assign priorities[g*WIDTH +: WIDTH] = priority_reg;
            always @(posedge clk) begin
                if (we && wword == NUMBER) begin
                    priority_reg <= wdata[WIDTH-1:0];
                end
                if (rst) begin
                    priority_reg <= {WIDTH{1'b0}};
                end
            end
        end
    endgenerate

    integer i;
    always @* begin
        found = {WIDTH{1'b0}};
        for (i = 0; i < 72; i = i + 1) begin
            if (rword == i[6:0]) begin
                found = priorities[i*WIDTH +: WIDTH];
            end
        end
    end

    always @(posedge clk) begin
        found_reg <= found;
    end

    wire unused_bits = &{1'b0, wdata[31:WIDTH]};

endmodule

`default_nettype wire
