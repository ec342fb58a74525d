// SPDX-License-Identifier: Apache-2.0
//
// inc_ecc_regs: the registers of an engine's memories: how many words were corrected and lost, by kind of memory; and what the engine stops for.
//
// Contract
//   registers   word 0 of the page STATUS: halted in bit 0, and from bit 8 on the kinds of memories of which a word was lost since CLEAR, read only.
//               Word 1 CLEAR: bit 0 written 1 while no group is live clears the memories, and STATUS once `moves` was low for 2**IDLE_W cycles behind
//               that: then nothing is inside that was made of a lost word; reads 0. Word 4 + k CORRECTED: reads of kind k that were
//               corrected, modulo 2**32; word 10 + k LOST: those that could not be. Two of a kind in one cycle are one
//   halt        from the cycle behind the one in which a word is lost of a kind in HALTS, or CLEAR is written, until CLEAR is done
//   start       when `tables_ready` rises after reset, and behind CLEAR, `init` is high for 2**AT_W cycles and `at` runs through all addresses of the
//               memories; then `ready` is high. Until then nothing is counted, and accesses wait. `mem_rst` is high from reset to the first `ready`
//   latency     a read … its counter 1 cycle
//   throughput  a read of each kind a cycle
//   access      as inc_page: all that is not of the page is answered by whoever is behind m_axil
//   stall       none
//   reset       counters and STATUS 0, init and mem_rst high
//   not done    does not say which memory of a kind it was, or where
`default_nettype none

module inc_ecc_regs #(
    // bits of a byte address, 16 to 22
    parameter AXIL_W = 16,
    // number of the page of 64 bytes
    parameter PAGE   = 168,
    // kinds of memories, 1 to 6, and those, by bit, of which a lost word stops the engine
    parameter KINDS  = 5,
    parameter HALTS  = 3,
    // groups
    parameter GROUPS = 2,
    // bits of the longest memory's address, 2 to 16
    parameter AT_W   = 4,
    // log2 of the cycles after which an engine that makes no frame has none inside, 2 to 16
    parameter IDLE_W = 11
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

    // high for a cycle each, by kind
    input  wire [KINDS-1:0]       fixed,
    input  wire [KINDS-1:0]       lost,
    input  wire [GROUPS-1:0]      live,
    // the engine has a beat of a frame of its own
    input  wire                   moves,
    output wire                   halt,
    // some kind's
    output wire                   any_fixed,
    output wire                   any_lost,

    input  wire                   tables_ready,
    output wire                   ready,
    output wire                   mem_rst,
    output wire                   init,
    output wire [15:0]            at
);

`ifndef __ICARUS__
    generate
        if (AXIL_W < 16 || AXIL_W > 22) begin : gen_bad_axil
            $error("inc_ecc_regs: AXIL_W must be 16 to 22");
        end
        if (PAGE < 0 || PAGE >= (1 << (AXIL_W - 6))) begin : gen_bad_page
            $error("inc_ecc_regs: PAGE must be one of the pages of AXIL_W bits");
        end
        if (KINDS < 1 || KINDS > 6) begin : gen_bad_kinds
            $error("inc_ecc_regs: KINDS must be 1 to 6");
        end
        if (HALTS < 0 || HALTS >= (1 << KINDS)) begin : gen_bad_halts
            $error("inc_ecc_regs: HALTS must be some of the KINDS");
        end
        if (GROUPS < 1) begin : gen_bad_groups
            $error("inc_ecc_regs: GROUPS must be at least 1");
        end
        if (IDLE_W < 2 || IDLE_W > 16) begin : gen_bad_idle_w
            $error("inc_ecc_regs: IDLE_W must be 2 to 16");
        end
        if (AT_W < 2 || AT_W > 16) begin : gen_bad_at_w
            $error("inc_ecc_regs: AT_W must be 2 to 16");
        end
    endgenerate
`endif

    localparam [3:0] W_STATUS = 4'd0, W_CLEAR = 4'd1, W_CORRECTED = 4'd4, W_LOST = 4'd10;
    localparam [3:0] COUNT = KINDS[3:0];
    localparam [KINDS-1:0] STOPS = HALTS[KINDS-1:0];

    // ---- all memories are cleared behind the tables' registers: a word that was never written has no check bits ----

    reg            ready_reg, rst_reg;
    wire           starts, clears;
    reg [AT_W-1:0] at_reg;

    assign ready = ready_reg;
    assign init  = !ready_reg;
    assign mem_rst = rst_reg;
    assign at    = {{(16-AT_W){1'b0}}, at_reg};

    always @(posedge clk) begin
        if (tables_ready && !ready_reg) begin
            at_reg    <= at_reg + {{(AT_W-1){1'b0}}, 1'b1};
            ready_reg <= &at_reg;
            rst_reg   <= rst_reg && !(&at_reg);
        end
        if (starts) begin
            ready_reg <= 1'b0;   // at_reg has come round to 0
        end
        if (rst) begin
            at_reg    <= {AT_W{1'b0}};
            ready_reg <= 1'b0;
            rst_reg   <= 1'b1;
        end
    end

    // ---- registers ----

    wire        awready, wready, arready;
    wire        we;
    wire [3:0]  wword, rword;
    wire [31:0] wdata;
    reg  [31:0] shown;
    wire        exists = rword == W_STATUS || rword == W_CLEAR || (rword >= W_CORRECTED && rword < W_CORRECTED + COUNT)
                         || (rword >= W_LOST && {1'b0, rword} < {1'b0, W_LOST} + {1'b0, COUNT});

    assign s_axil_awready = awready && ready_reg;
    assign s_axil_wready  = wready && ready_reg;
    assign s_axil_arready = arready && ready_reg;

    inc_page #(.AXIL_W(AXIL_W), .PAGE_W(6), .PAGE(PAGE)) u_page (
        .clk            (clk),
        .rst            (rst),
        .s_axil_awaddr  (s_axil_awaddr),
        .s_axil_awvalid (s_axil_awvalid && ready_reg),
        .s_axil_awready (awready),
        .s_axil_wdata   (s_axil_wdata),
        .s_axil_wstrb   (s_axil_wstrb),
        .s_axil_wvalid  (s_axil_wvalid && ready_reg),
        .s_axil_wready  (wready),
        .s_axil_bresp   (s_axil_bresp),
        .s_axil_bvalid  (s_axil_bvalid),
        .s_axil_bready  (s_axil_bready),
        .s_axil_araddr  (s_axil_araddr),
        .s_axil_arvalid (s_axil_arvalid && ready_reg),
        .s_axil_arready (arready),
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
        .exists         (wword == W_STATUS || wword == W_CLEAR || (wword >= W_CORRECTED && wword < W_CORRECTED + COUNT)
                         || (wword >= W_LOST && {1'b0, wword} < {1'b0, W_LOST} + {1'b0, COUNT})),
        .rword          (rword),
        .rdata          (shown),
        .known          (exists)
    );

    reg [KINDS-1:0]    lost_reg;
    reg                halt_reg;
    reg [32*KINDS-1:0] fixed_count_reg, lost_count_reg;
    wire [KINDS-1:0]   fixed_now = fixed & {KINDS{ready_reg}};
    wire [KINDS-1:0]   lost_now  = lost & {KINDS{ready_reg}};
    reg                wants_reg;      // CLEAR was written
    reg [IDLE_W-1:0]   idle_reg;
    assign             starts    = we && wword == W_CLEAR && wdata[0] && live == {GROUPS{1'b0}};
    assign             clears    = wants_reg && ready_reg && live == {GROUPS{1'b0}} && !moves && &idle_reg;

    // what is inside while the tables are cleared would be made of nothing
    assign halt      = halt_reg || wants_reg;
    assign any_fixed = |fixed_now;
    assign any_lost  = |lost_now;

    integer i;
    always @* begin
        shown = 32'd0;
        for (i = 0; i < KINDS; i = i + 1) begin
            if (rword == W_CORRECTED + i[3:0]) begin
                shown = fixed_count_reg[32*i +: 32];
            end
            if (rword == W_LOST + i[3:0]) begin
                shown = lost_count_reg[32*i +: 32];
            end
        end
        if (rword == W_STATUS) begin
            shown[0]           = halt_reg || wants_reg;
            shown[8 +: KINDS]  = lost_reg;
        end
    end

    integer k;
    always @(posedge clk) begin
        wants_reg <= starts || (wants_reg && !clears);
        idle_reg  <= moves || !ready_reg || live != {GROUPS{1'b0}} || clears ? {IDLE_W{1'b0}} : idle_reg + {{(IDLE_W-1){1'b0}}, !(&idle_reg)};
        // what comes while STATUS is cleared stays
        lost_reg <= lost_now | (lost_reg & {KINDS{!clears}});
        halt_reg <= |(lost_now & STOPS) || (halt_reg && !clears);
        for (k = 0; k < KINDS; k = k + 1) begin
            if (fixed_now[k]) begin
                fixed_count_reg[32*k +: 32] <= fixed_count_reg[32*k +: 32] + 32'd1;
            end
            if (lost_now[k]) begin
                lost_count_reg[32*k +: 32] <= lost_count_reg[32*k +: 32] + 32'd1;
            end
        end
        if (rst) begin
            wants_reg       <= 1'b0;
            idle_reg        <= {IDLE_W{1'b0}};
            lost_reg        <= {KINDS{1'b0}};
            halt_reg        <= 1'b0;
            fixed_count_reg <= {(32*KINDS){1'b0}};
            lost_count_reg  <= {(32*KINDS){1'b0}};
        end
    end

    wire unused_bits = &{1'b0, wdata};

endmodule

`default_nettype wire
