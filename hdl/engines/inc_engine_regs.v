// SPDX-License-Identifier: Apache-2.0
//
// inc_engine_regs: one register space for several engines: a window each, and one in which a write reaches all and a counter is the sum.
//
// Contract
//   window 0    below 0x1000 what all engines have in common: a write goes to all of them, SLVERR if any refuses. A read of COUNTER or
//               COUNTER_HIGH is the sum over all engines and, of the counters RX_FRAMES and BYPASS, of what went round them; any other read
//               is engine 0's. At 0x4400 the switch's own: the number of engines, and both words of what went round. All else is SLVERR
//   window e+1  from 0x0800 on what engine e has for itself, at its addresses there. Below, SLVERR. So are the windows behind the last
//   sums        all engines copy their counters in the same cycle. The high word belongs to the low word read before it
//   exits       as BYPASS_PORT, which the engines keep too: a write that all engines took
//   latency     write response 4 cycles more than it takes an engine, read data 4 + ENGINES more; here 3
//   throughput  one write and one read at a time, independent of each other
//   bus         every output is a flip-flop, but m_axil_bready and m_axil_rready, which are of such and the engines' bvalid and rvalid
//   stall       an answer waits for bready or rready
//   reset       port p's exit is p, nothing counted, nothing under way
//   not done    the windows' width is not looked into: what an engine does not have, it refuses
`default_nettype none

module inc_engine_regs #(
    // bits of a byte address, and of one within a window: at least 16, and enough bits above for all windows
    parameter AXIL_W   = 18,
    parameter ENG_W    = 16,
    // number of engines, 2 to 8
    parameter ENGINES  = 2,
    // number of ports, 1 to 32, and bits of a port number
    parameter PORTS    = 4,
    parameter PORT_W   = 2,
    // number of counters of an engine, 1 to 256, and the numbers of two of them
    parameter COUNTERS = 46,
    parameter RX       = 0,
    parameter BYPASS   = 1,
    // byte address of COUNTER_SNAPSHOT
    parameter SNAPSHOT = 60
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire [AXIL_W-1:0]       s_axil_awaddr,
    input  wire                    s_axil_awvalid,
    output wire                    s_axil_awready,
    input  wire [31:0]             s_axil_wdata,
    input  wire [3:0]              s_axil_wstrb,
    input  wire                    s_axil_wvalid,
    output wire                    s_axil_wready,
    output wire [1:0]              s_axil_bresp,
    output wire                    s_axil_bvalid,
    input  wire                    s_axil_bready,
    input  wire [AXIL_W-1:0]       s_axil_araddr,
    input  wire                    s_axil_arvalid,
    output wire                    s_axil_arready,
    output wire [31:0]             s_axil_rdata,
    output wire [1:0]              s_axil_rresp,
    output wire                    s_axil_rvalid,
    input  wire                    s_axil_rready,

    // engine e at [e*width +: width]; addresses and data of requests go to all
    output wire [ENG_W-1:0]        m_axil_awaddr,
    output wire [ENGINES-1:0]      m_axil_awvalid,
    input  wire [ENGINES-1:0]      m_axil_awready,
    output wire [31:0]             m_axil_wdata,
    output wire [3:0]              m_axil_wstrb,
    output wire [ENGINES-1:0]      m_axil_wvalid,
    input  wire [ENGINES-1:0]      m_axil_wready,
    input  wire [2*ENGINES-1:0]    m_axil_bresp,
    input  wire [ENGINES-1:0]      m_axil_bvalid,
    output wire [ENGINES-1:0]      m_axil_bready,
    output wire [ENG_W-1:0]        m_axil_araddr,
    output wire [ENGINES-1:0]      m_axil_arvalid,
    input  wire [ENGINES-1:0]      m_axil_arready,
    input  wire [32*ENGINES-1:0]   m_axil_rdata,
    input  wire [2*ENGINES-1:0]    m_axil_rresp,
    input  wire [ENGINES-1:0]      m_axil_rvalid,
    output wire [ENGINES-1:0]      m_axil_rready,

    // a frame went round the engines, for one cycle each
    input  wire                    count_round,
    output wire [PORTS*PORT_W-1:0] exits
);

    localparam WIN_W = AXIL_W - ENG_W;

`ifndef __ICARUS__
    generate
        if (ENGINES < 2 || ENGINES > 8) begin : gen_bad_engines
            $error("inc_engine_regs: ENGINES must be 2 to 8");
        end
        if (ENG_W < 16 || AXIL_W <= ENG_W || ENGINES >= (1 << (AXIL_W - ENG_W))) begin : gen_bad_axil
            $error("inc_engine_regs: AXIL_W must reach a window of ENG_W bits, at least 16, for each engine and one more");
        end
        if (PORT_W < 1 || PORTS < 1 || PORTS > 32 || PORTS > (1 << PORT_W)) begin : gen_bad_ports
            $error("inc_engine_regs: PORTS must be 1 to 32, and to 2**PORT_W");
        end
        if (COUNTERS < 2 || COUNTERS > 256 || RX < 0 || RX >= COUNTERS || BYPASS < 0 || BYPASS >= COUNTERS) begin : gen_bad_counters
            $error("inc_engine_regs: COUNTERS must be 2 to 256, with RX and BYPASS among them");
        end
    endgenerate
`endif

    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;
    localparam [ENG_W-11:0] HERE = 17;            // 0x4400 in pages of 1,024 bytes
    localparam [ENG_W-1:0] AT_SNAPSHOT = SNAPSHOT[ENG_W-1:0];
    localparam [8:0] NUM_COUNTERS = COUNTERS[8:0];
    localparam [7:0] RX_FRAMES = RX[7:0], BYPASSED = BYPASS[7:0];
    localparam [ENGINES-1:0] FIRST = 1;

    // Whom an address reaches, by its window and its bits from 11 on within it: engines, one bit each; nobody if it is answered here.
    function [ENGINES-1:0] reach(input [WIN_W-1:0] window, input [ENG_W-12:0] at, input every);
        integer e;
        begin
            reach = {ENGINES{1'b0}};
            if (window == {WIN_W{1'b0}}) begin
                if (at[ENG_W-12:1] == {(ENG_W-12){1'b0}}) begin
                    reach = every ? {ENGINES{1'b1}} : FIRST;
                end
            end else if (at != {(ENG_W-11){1'b0}}) begin
                for (e = 0; e < ENGINES; e = e + 1) begin
                    reach[e] = window == e[WIN_W-1:0] + {{(WIN_W-1){1'b0}}, 1'b1};
                end
            end
        end
    endfunction

    // Whether a word is one of the switch's own registers.
    function own(input [WIN_W-1:0] window, input [ENG_W-3:0] word);
        own = window == {WIN_W{1'b0}} && word[ENG_W-3:8] == HERE && word[7:0] < 8'd3;
    endfunction

    // Whether an address is a counter's that is summed.
    function summed(input [WIN_W-1:0] window, input [ENG_W-12:0] at);
        summed = window == {WIN_W{1'b0}} && at == {{(ENG_W-12){1'b0}}, 1'b1};
    endfunction

    // What went round the engines, its copy, and whether copies are made by reading.
    reg [63:0] round_reg, copy_reg;
    reg        hold_reg;

    // Writes: address and data are collected, then passed on or answered here.
    localparam [1:0] W_IDLE = 2'd0, W_SENT = 2'd1, W_ANSWER = 2'd2;
    reg [1:0]         w_state_reg;
    reg               aw_have_reg, w_have_reg, on_reg;
    reg [AXIL_W-1:0]  aw_reg;
    reg [31:0]        w_data_reg;
    reg [3:0]         w_strb_reg;
    reg [ENGINES-1:0] m_aw_reg, m_w_reg, b_wait_reg;
    reg [1:0]         b_reg;
    reg [PORTS*PORT_W-1:0] exits_reg;

    wire [WIN_W-1:0]   w_win   = aw_reg[AXIL_W-1:ENG_W];
    wire [ENGINES-1:0] w_to    = reach(w_win, aw_reg[ENG_W-1:11], 1'b1);
    wire [ENGINES-1:0] b_got   = b_wait_reg & m_axil_bvalid;
    wire               b_done  = b_wait_reg == b_got;
    reg  [1:0]         b_all;              // refused by anybody, now or before
    wire               common  = w_win == {WIN_W{1'b0}};
    wire               w_took  = w_state_reg == W_SENT && b_done && b_all == OKAY && common;
    wire               to_exit = aw_reg[ENG_W-1:10] == {{(ENG_W-11){1'b0}}, 1'b1};
    wire               to_hold = {aw_reg[ENG_W-1:2], 2'b00} == AT_SNAPSHOT;

    assign s_axil_awready = on_reg && !aw_have_reg;
    assign s_axil_wready  = on_reg && !w_have_reg;
    assign s_axil_bvalid  = w_state_reg == W_ANSWER;
    assign s_axil_bresp   = b_reg;
    assign m_axil_awaddr  = aw_reg[ENG_W-1:0];
    assign m_axil_wdata   = w_data_reg;
    assign m_axil_wstrb   = w_strb_reg;
    assign m_axil_awvalid = m_aw_reg;
    assign m_axil_wvalid  = m_w_reg;
    assign m_axil_bready  = b_wait_reg;
    assign exits          = exits_reg;

    integer k;
    always @* begin
        b_all = b_reg;
        for (k = 0; k < ENGINES; k = k + 1) begin
            b_all = b_all | (m_axil_bresp[2*k +: 2] & {2{b_got[k]}});
        end
    end

    always @(posedge clk) begin
        on_reg <= 1'b1;
        if (s_axil_awvalid && s_axil_awready) begin
            aw_have_reg <= 1'b1;
            aw_reg      <= s_axil_awaddr;
        end
        if (s_axil_wvalid && s_axil_wready) begin
            w_have_reg <= 1'b1;
            w_data_reg <= s_axil_wdata;
            w_strb_reg <= s_axil_wstrb;
        end
        case (w_state_reg)
            W_IDLE: begin
                if (aw_have_reg && w_have_reg) begin
                    m_aw_reg    <= w_to;
                    m_w_reg     <= w_to;
                    b_wait_reg  <= w_to;
                    b_reg       <= w_to != {ENGINES{1'b0}} || own(w_win, aw_reg[ENG_W-1:2]) && w_strb_reg == 4'hF ? OKAY : SLVERR;
                    w_state_reg <= w_to != {ENGINES{1'b0}} ? W_SENT : W_ANSWER;
                end
            end
            W_SENT: begin
                m_aw_reg   <= m_aw_reg & ~m_axil_awready;
                m_w_reg    <= m_w_reg & ~m_axil_wready;
                b_wait_reg <= b_wait_reg & ~b_got;
                b_reg      <= b_all;
                if (b_done) begin
                    w_state_reg <= W_ANSWER;
                end
            end
            default: begin
                if (s_axil_bready) begin
                    aw_have_reg <= 1'b0;
                    w_have_reg  <= 1'b0;
                    w_state_reg <= W_IDLE;
                end
            end
        endcase
        if (w_took && to_exit) begin
            for (k = 0; k < PORTS; k = k + 1) begin
                if (aw_reg[9:2] == k[7:0]) begin
                    exits_reg[k*PORT_W +: PORT_W] <= w_data_reg[PORT_W-1:0];
                end
            end
        end
        if (w_took && to_hold) begin
            hold_reg <= w_data_reg[0];
        end

        if (rst) begin
            on_reg      <= 1'b0;
            aw_have_reg <= 1'b0;
            w_have_reg  <= 1'b0;
            m_aw_reg    <= {ENGINES{1'b0}};
            m_w_reg     <= {ENGINES{1'b0}};
            b_wait_reg  <= {ENGINES{1'b0}};
            w_state_reg <= W_IDLE;
            hold_reg    <= 1'b0;
            for (k = 0; k < PORTS; k = k + 1) begin
                exits_reg[k*PORT_W +: PORT_W] <= k[PORT_W-1:0];
            end
        end
    end

    // Reads: all that are asked are asked at once and answer when they like; their answers are added one after the other.
    localparam [1:0] R_IDLE = 2'd0, R_SENT = 2'd1, R_LAST = 2'd2, R_ANSWER = 2'd3;
    reg [1:0]            r_state_reg;
    reg                  ar_have_reg;
    reg [AXIL_W-1:0]     ar_reg;
    reg [ENGINES-1:0]    m_ar_reg, turn_reg, r_wait_reg;
    reg [1:0]            r_resp_reg;
    reg [35:0]           sum_reg;
    reg [4*COUNTERS-1:0] carry_reg;               // out of the low word of each sum, as of the last read
    reg [31:0]           answer;
    reg [1:0]            resp;
    reg [3:0]            carry;

    wire [WIN_W-1:0]   r_win = ar_reg[AXIL_W-1:ENG_W];
    wire               sums  = summed(r_win, ar_reg[ENG_W-1:11]);
    wire               here  = own(r_win, ar_reg[ENG_W-1:2]);
    wire [ENGINES-1:0] r_to  = reach(r_win, ar_reg[ENG_W-1:11], sums);
    wire [7:0]         index = ar_reg[9:2];
    wire               low   = !ar_reg[10];
    wire               some  = index == RX_FRAMES || index == BYPASSED;
    wire [31:0]        own_word = index == 8'd0 ? ENGINES : index == 8'd1 ? copy_reg[31:0] : copy_reg[63:32];
    wire [31:0]        passed = low ? (hold_reg ? copy_reg[31:0] : round_reg[31:0]) : copy_reg[63:32];
    wire [ENGINES-1:0] r_got = r_wait_reg & turn_reg & m_axil_rvalid;
    wire               moves = (r_wait_reg & turn_reg) == r_got;

    assign s_axil_arready = on_reg && !ar_have_reg;
    assign s_axil_rvalid  = r_state_reg == R_ANSWER;
    assign s_axil_rdata   = sum_reg[31:0];
    assign s_axil_rresp   = r_resp_reg;
    assign m_axil_araddr  = ar_reg[ENG_W-1:0];
    assign m_axil_arvalid = m_ar_reg;
    assign m_axil_rready  = r_wait_reg & turn_reg;

    integer n;
    always @* begin
        answer = 32'd0;
        resp   = OKAY;
        for (n = 0; n < ENGINES; n = n + 1) begin
            answer = answer | (m_axil_rdata[32*n +: 32] & {32{r_got[n]}});
            resp   = resp | (m_axil_rresp[2*n +: 2] & {2{r_got[n]}});
        end
        carry = 4'd0;
        for (n = 0; n < COUNTERS; n = n + 1) begin
            if (index == n[7:0]) begin
                carry = carry_reg[4*n +: 4];
            end
        end
    end

    always @(posedge clk) begin
        if (s_axil_arvalid && s_axil_arready) begin
            ar_have_reg <= 1'b1;
            ar_reg      <= s_axil_araddr;
        end
        m_ar_reg <= m_ar_reg & ~m_axil_arready;
        case (r_state_reg)
            R_IDLE: begin
                if (ar_have_reg) begin
                    m_ar_reg    <= r_to;
                    r_wait_reg  <= r_to;
                    turn_reg    <= FIRST;
                    sum_reg     <= sums ? {4'd0, passed & {32{some}}} + {32'd0, carry & {4{!low}}} : {4'd0, own_word & {32{here}}};
                    r_resp_reg  <= r_to != {ENGINES{1'b0}} || here ? OKAY : SLVERR;
                    r_state_reg <= r_to != {ENGINES{1'b0}} ? R_SENT : R_ANSWER;
                end
            end
            R_SENT: begin
                if (moves) begin
                    sum_reg     <= sum_reg + {4'd0, answer};
                    r_resp_reg  <= r_resp_reg | resp;
                    r_wait_reg  <= r_wait_reg & ~r_got;
                    turn_reg    <= turn_reg << 1;
                    if (turn_reg[ENGINES-1]) begin
                        r_state_reg <= R_LAST;
                    end
                end
            end
            R_LAST: r_state_reg <= R_ANSWER;
            default: begin
                if (s_axil_rready) begin
                    ar_have_reg <= 1'b0;
                    r_state_reg <= R_IDLE;
                end
            end
        endcase
        if (r_state_reg == R_LAST && sums && low) begin
            for (n = 0; n < COUNTERS; n = n + 1) begin
                if (index == n[7:0]) begin
                    carry_reg[4*n +: 4] <= sum_reg[35:32];
                end
            end
        end

        if (count_round) begin
            round_reg <= round_reg + 64'd1;
        end
        if (w_took && to_hold && w_data_reg[0] || r_state_reg == R_IDLE && ar_have_reg && sums && low && {1'b0, index} < NUM_COUNTERS && !hold_reg) begin
            copy_reg <= round_reg;
        end

        if (rst) begin
            ar_have_reg <= 1'b0;
            m_ar_reg    <= {ENGINES{1'b0}};
            r_wait_reg  <= {ENGINES{1'b0}};
            r_state_reg <= R_IDLE;
            round_reg   <= 64'd0;
            copy_reg    <= 64'd0;
            carry_reg   <= {(4*COUNTERS){1'b0}};
        end
    end

endmodule

`default_nettype wire
