// SPDX-License-Identifier: Apache-2.0
//
// inc_forward: takes bypassed frames out of the ring of beats once LookupTable has decided, sends them on unchanged, and shares the
// output between them and the engine's own frames.
//
// Contract
//   latency     bypass: 3 cycles from raw_valid to m_axis when the decision is there, 2 from the decision when the beat is there and the adders
//               do not read; engine: 0 cycles from eng_* to m_axis
//   throughput  1 beat per cycle, no bubbles while anybody waits and the adders do not read; of frames of one beat beside adders that do, one
//               in 3 cycles. Frames that are not bypassed are passed over, one in a cycle
//   begin       a bypassed frame begins to leave when the ring has all of it; or, while it comes in, when it is the oldest frame of which
//               the ring has anything that is wanted (byp_oldest is where it begins). Then byp_alone is high until the decision about
//               it (byp_done): what the ring has is what Forward has not read, and the frame behind waits. Otherwise a frame longer than the
//               ring would hold the output while words of older frames, which wait for the output, held the ring
//   port        Forward reads in cycles with rd_ready low, and where the adders want nothing (rd_wants low). It has rd_ready low inside a frame
//               that has the output, and for the first beat of one that is next
//   lost        the adders' read (rd_en) takes the ring's output from Forward: a beat not yet taken from there is read again
//   fairness    frame by frame in turn while both wait
//   stall       m_axis_tready low stops both one cycle later; the writer watches `room`: true while 8 decisions and 8 ends of frames are free
//   keep        tkeep is contiguous from bit 0 and full but on a frame's last beat; inside, and on eng_size, it is the number of the
//               last beat's bytes, 0 for all of them
//   reset       empty
//   not done    nothing of a frame is changed or checked
`default_nettype none

module inc_forward #(
    // bytes of a beat, a power of two of at least 4
    parameter BYTES   = 8,
    // bits of a port number
    parameter PORT_W  = 2,
    // bits of a beat's address in the ring
    parameter ADDR_W  = 9,
    // log2 of the number of decisions, and of ends of frames, that may wait, 4 to 10
    parameter DEPTH_W = 5
) (
    input  wire               clk,
    input  wire               rst,

    output wire               room,
    // a beat that came, and the address behind it; the ring keeps the first two of a frame at least
    input  wire               raw_valid,
    input  wire [BYTES-1:0]   raw_keep,
    input  wire               raw_last,
    input  wire               raw_err,
    input  wire [ADDR_W-1:0]  raw_end,

    // one a frame, in order
    input  wire               fwd_valid,
    input  wire               fwd_bypass,
    input  wire [PORT_W-1:0]  fwd_port,

    // the ring: the address behind the newest beat; reading; the oldest beat that Forward may still want
    input  wire [ADDR_W-1:0]  byp_fill,
    output wire               byp_re,
    output wire [ADDR_W-1:0]  byp_addr,
    input  wire [8*BYTES-1:0] byp_data,
`ifdef INC_ECC
    // the beat is lost
    input  wire               byp_bad,
`endif
    output wire [ADDR_W-1:0]  byp_from,
    output wire               byp_alone,
    // the oldest beat that the adders may still want, or where the oldest frame begins that is not decided; one was decided
    input  wire [ADDR_W-1:0]  byp_oldest,
    input  wire               byp_done,
    // the adders: they have something to read; they read; they may
    input  wire               rd_wants,
    input  wire               rd_en,
    output wire               rd_ready,

    // frames that the engine made
    input  wire               eng_valid,
    output wire               eng_ready,
    input  wire [8*BYTES-1:0] eng_data,
    input  wire [$clog2(BYTES)-1:0] eng_size,
    input  wire               eng_last,
    input  wire [PORT_W-1:0]  eng_port,

    output wire [8*BYTES-1:0] m_axis_tdata,
    output wire [BYTES-1:0]   m_axis_tkeep,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast,
    output wire [PORT_W:0]    m_axis_tuser
);

`ifndef __ICARUS__
    generate
        if (BYTES < 4 || (1 << $clog2(BYTES)) != BYTES) begin : gen_bad_bytes
            $error("inc_forward: BYTES must be a power of two of at least 4");
        end
        if (PORT_W < 1) begin : gen_bad_port
            $error("inc_forward: PORT_W must be at least 1");
        end
        if (ADDR_W < 2 || ADDR_W > 20) begin : gen_bad_addr
            $error("inc_forward: ADDR_W must be 2 to 20");
        end
        if (DEPTH_W < 4 || DEPTH_W > 10) begin : gen_bad_depth
            $error("inc_forward: DEPTH_W must be 4 to 10");
        end
    endgenerate
`endif

    localparam SIZE_W = $clog2(BYTES);
    localparam END_W  = ADDR_W + 2 + SIZE_W;

    // ---- bytes of a last beat: bit i of their number is set where tkeep ends between an odd multiple of 2**i and the next even one ----

    wire [SIZE_W-1:0] raw_size;
    genvar b, n;
    generate
        for (n = 0; n < SIZE_W; n = n + 1) begin : gen_size
            wire [(BYTES>>(n+1))-1:0] ends;
            for (b = 0; b < (BYTES >> (n + 1)); b = b + 1) begin : gen_end
                assign ends[b] = raw_keep[((2*b+1)<<n)-1] && !raw_keep[((2*b+2)<<n)-1];
            end
            assign raw_size[n] = |ends;
        end
    endgenerate

    // ---- decisions, and where frames end ----

    wire              way_room, way_valid, way_bypass;
    wire [PORT_W-1:0] way_port;
    wire              end_room, end_valid, end_lone, end_err;
    reg               raw_first_reg;    // a beat that comes is its frame's first
    wire [ADDR_W-1:0] end_addr;
    wire [SIZE_W-1:0] end_size;
    wire              passes;           // the frame that is read is done with

    assign room = way_room && end_room;

    inc_fifo #(.WIDTH(PORT_W + 1), .DEPTH_W(DEPTH_W), .MARGIN(8), .HEAD(PORT_W + 1)) u_ways (
        .clk       (clk),
        .rst       (rst),
        .push      (fwd_valid),
        .push_data ({fwd_bypass, fwd_port}),
        .room      (way_room),
        .valid     (way_valid),
        .data      ({way_bypass, way_port}),
        .pop       (passes)
    );

    inc_fifo #(.WIDTH(END_W), .DEPTH_W(DEPTH_W), .MARGIN(8), .HEAD(END_W)) u_ends (
        .clk       (clk),
        .rst       (rst),
        .push      (raw_valid && raw_last),
        .push_data ({raw_end, raw_first_reg, raw_err, raw_size}),
        .room      (end_room),
        .valid     (end_valid),
        .data      ({end_addr, end_lone, end_err, end_size}),
        .pop       (passes)
    );

    always @(posedge clk) begin
        if (raw_valid) begin
            raw_first_reg <= raw_last;
        end
        if (rst) begin
            raw_first_reg <= 1'b1;
        end
    end

    // ---- from the ring: a beat at its output, and the one before it in a register ----

    reg  [ADDR_W-1:0]  from_reg;        // where the frame that is read begins
    reg  [ADDR_W-1:0]  at_reg;          // the beat that comes to the register next
    reg  [ADDR_W-1:0]  behind_reg;      // the one behind it
    reg  [ADDR_W-1:0]  beyond_reg;      // and behind that
    reg                there_reg;       // the ring shows it
    reg                begun_reg;       // it is not the frame's first
    reg                last_reg;        // then: it is the frame's last
    reg                alone_reg;       // the frame that leaves came in when nothing else was wanted, and is not decided
    reg                oldest_reg;      // nothing is wanted that came before the frame

    reg                head_valid_reg, head_last_reg, head_err_reg;
    reg  [SIZE_W-1:0]  head_size_reg;
    reg  [PORT_W-1:0]  head_port_reg;
    reg  [8*BYTES-1:0] head_data_reg;

    reg                owner_reg;       // 1 bypass, 0 engine
    wire               byp_pop;

    // The frame behind one that leaves alone waits: byp_from counts for that one.
    wire waits   = alone_reg && !begun_reg;
    wire mine    = way_valid && way_bypass && !waits;
    wire skips   = way_valid && !way_bypass && !waits && end_valid;
    wire moves   = there_reg && mine && (byp_pop || !head_valid_reg);
    // A frame's end is known a cycle before the ring shows its last beat, so it was compared then.
    wire at_last = end_valid && (begun_reg ? last_reg : end_lone);
    assign passes = (moves && at_last) || skips;

    // What is next is read as soon as it is there, decided or not, unless it is known that nobody wants it.
    wire in_ring = there_reg ? behind_reg != byp_fill : at_reg != byp_fill;
    wire first   = way_valid && way_bypass && !there_reg && !head_valid_reg && !begun_reg;
    assign rd_ready  = !((owner_reg && begun_reg) || first);
    assign byp_re    = in_ring && (!there_reg || moves) && !(way_valid && !way_bypass) && !(rd_ready && rd_wants);
    assign byp_addr  = there_reg ? behind_reg : at_reg;
    assign byp_from  = at_reg;
    assign byp_alone = alone_reg;

    wire [ADDR_W-1:0] at_next = skips ? end_addr : moves ? behind_reg : at_reg;

    always @(posedge clk) begin
        at_reg     <= at_next;
        behind_reg <= at_next + {{(ADDR_W-1){1'b0}}, 1'b1};
        beyond_reg <= at_next + {{(ADDR_W-2){1'b0}}, 2'd2};
        last_reg   <= end_valid && end_addr == (moves ? beyond_reg : behind_reg);
        if (passes) begin
            from_reg <= end_addr;
        end
        there_reg  <= byp_re || (there_reg && !moves && !skips && !rd_en);
        begun_reg  <= moves ? !at_last : begun_reg;
        oldest_reg <= passes ? byp_oldest == end_addr : byp_oldest == from_reg;
        if (rst) begin
            at_reg     <= {ADDR_W{1'b0}};
            behind_reg <= {{(ADDR_W-1){1'b0}}, 1'b1};
            beyond_reg <= {{(ADDR_W-2){1'b0}}, 2'd2};
            from_reg   <= {ADDR_W{1'b0}};
            there_reg  <= 1'b0;
            begun_reg  <= 1'b0;
            oldest_reg <= 1'b0;
        end
    end

`ifdef INC_ECC
    reg  spoilt_reg;                    // a beat of the frame was lost
    wire spoilt = spoilt_reg || byp_bad;
`else
    wire spoilt = 1'b0;
`endif

    always @(posedge clk) begin
        head_valid_reg <= moves || (head_valid_reg && !byp_pop);
        if (moves) begin
            head_last_reg <= at_last;
            head_err_reg  <= at_last && (end_err || spoilt);
            head_size_reg <= end_size;
            head_port_reg <= way_port;
            head_data_reg <= byp_data;
`ifdef INC_ECC
            spoilt_reg    <= spoilt && !at_last;
`endif
        end
        if (rst) begin
            head_valid_reg <= 1'b0;
`ifdef INC_ECC
            spoilt_reg     <= 1'b0;
`endif
        end
    end

    // ---- share the output ----

    // Whose the next beat is stands in a register: eng_ready goes back through all that makes frames, and waits for no queue here. The engine has
    // the output while nobody wants it.
    reg  busy_reg;         // inside a frame
    wire o_ready;
    // The frame whose beats are read may begin; the head is its beat, or the last of the one before, which may by then.
    wire may_begin = end_valid || oldest_reg;
    wire byp_valid = head_valid_reg && (busy_reg || head_last_reg || may_begin);
    wire byp_next  = moves ? may_begin : head_valid_reg && !byp_pop && (head_last_reg || may_begin);
    wire o_valid = owner_reg ? byp_valid : eng_valid;
    wire o_last  = owner_reg ? head_last_reg : eng_last;
    wire turn    = o_valid ? o_ready && o_last : !busy_reg;

    assign byp_pop   = owner_reg && o_ready && byp_valid;
    assign eng_ready = !owner_reg && o_ready;

    always @(posedge clk) begin
        if (o_valid && o_ready) begin
            busy_reg <= !o_last;
        end
        if (turn) begin
            owner_reg <= byp_next && !(owner_reg && eng_valid);
        end
        if (byp_pop && !busy_reg && !head_last_reg && !end_valid) begin
            alone_reg <= 1'b1;
        end else if (byp_done) begin
            alone_reg <= 1'b0;
        end
        if (rst) begin
            busy_reg  <= 1'b0;
            owner_reg <= 1'b0;
            alone_reg <= 1'b0;
        end
    end

    // What a beat's tkeep is made of: it is full; and lanes below a last beat's number in two steps, whole blocks of lanes, and lanes of the
    // block in which it lies. That is done before the choice of a beat, which comes late.
    localparam FINE_W  = SIZE_W / 2;
    localparam BLOCKS  = BYTES >> FINE_W;
    localparam FINE    = 1 << FINE_W;
    localparam MARKS_W = 1 + 2*BLOCKS + FINE;

    function [MARKS_W-1:0] marks;
        input [SIZE_W-1:0] size;
        input              last;
        begin
            marks = {!last || size == {SIZE_W{1'b0}}, ~({BLOCKS{1'b1}} << size[SIZE_W-1:FINE_W]),
                     {{(BLOCKS-1){1'b0}}, 1'b1} << size[SIZE_W-1:FINE_W], ~({FINE{1'b1}} << size[FINE_W-1:0])};
        end
    endfunction

    wire [MARKS_W-1:0] head_marks = marks(head_size_reg, head_last_reg);
    wire [MARKS_W-1:0] eng_marks  = marks(eng_size, eng_last);
    wire               full;
    wire [BLOCKS-1:0]  below, ends_in;
    wire [FINE-1:0]    lanes;

    inc_skid #(.WIDTH(8*BYTES + MARKS_W + PORT_W + 2)) u_out (
        .clk     (clk),
        .rst     (rst),
        .s_data  (owner_reg ? {head_err_reg, head_port_reg, head_last_reg, head_marks, head_data_reg}
                        : {1'b0, eng_port, eng_last, eng_marks, eng_data}),
        .s_valid (o_valid),
        .s_ready (o_ready),
        .m_data  ({m_axis_tuser[0], m_axis_tuser[PORT_W:1], m_axis_tlast, full, below, ends_in, lanes, m_axis_tdata}),
        .m_valid (m_axis_tvalid),
        .m_ready (m_axis_tready)
    );

    generate
        for (b = 0; b < BYTES; b = b + 1) begin : gen_keep
            assign m_axis_tkeep[b] = full || below[b/FINE] || (ends_in[b/FINE] && lanes[b%FINE]);
        end
    endgenerate

endmodule

`default_nettype wire
