// SPDX-License-Identifier: Apache-2.0
//
// f_order: inc_aggregate_data with any works whatever on two slots of two words, against a plain model: what is emitted is each
// slot's contributions, joined in the order in which their works were given, killed ones left out. The adders are replaced by
// something that tells every order from every other, and keeps their stages.
`default_nettype none

module inc_lanes #(
    parameter LANES = 1, parameter STAGES = 1, parameter FP = 0, parameter INT = 1, parameter SUM = 1, parameter MIN = 0, parameter MAX = 0
) (
    input  wire                clk,
    input  wire                en,
    input  wire [1:0]          op,
    input  wire                is_int,
    input  wire [32*LANES-1:0] a,
    input  wire [32*LANES-1:0] b,
    output wire [32*LANES-1:0] y
);
    localparam W = 4;
    // an integer operation only passes one operand, the other is 0
    wire [W-1:0] joined = is_int ? a[W-1:0] + b[W-1:0] : {a[W-2:0], a[W-1]} ^ b[W-1:0];
    reg [STAGES*W-1:0] stages;
    always @(posedge clk) begin
        if (en) begin
            stages <= {stages, joined};
        end
    end
    assign y = {{(32-W){1'b0}}, stages[STAGES*W-1 -: W]};
endmodule

module f_order #(parameter STAGES = 2) (
    input wire        clk,
    // anything
    input wire        any_valid, any_spec, any_commit, any_kill, any_read, any_emit, any_slot, any_long, any_taken, emit_room,
    input wire [1:0]  any_kind,
    input wire [2:0]  any_start,
    input wire [31:0] any_packets
);
    localparam W = 4;
    localparam [1:0] RESEND = 2'd2;    // 0 and 1 are contributions, 3 a copy of a packet

    reg rst = 1'b1, begun = 1'b0;
    reg [31:0] packets;
    reg [31:0] rd_data;
    wire       rd_en, rd_again;
    reg        rd_there = 1'b0;
    wire       rd_ready = !any_taken;    // else Forward reads, and its beat is there in place of the word
    wire [2:0] rd_addr;
    reg  [2:0] last;
    wire [2:0] at = rd_again ? last : rd_addr;
    always @(posedge clk) begin
        rst   <= 1'b0;
        begun <= 1'b1;
        if (!begun) begin
            packets <= any_packets;
        end
        if (rd_en) begin
            rd_data  <= {28'd0, packets[at*W +: W]};
            rd_there <= 1'b1;
            last     <= at;
        end else if (any_taken) begin
            rd_data  <= any_packets;
            rd_there <= 1'b0;
        end
    end

    // ---- works as CheckDuplicate gives them: after a speculative one, none until it is committed or killed ----

    wire op_ready, emit_valid, emit_bad;
    wire [31:0] emit_data;
    reg  open = 1'b0;
    wire op_valid  = any_valid && op_ready && !open && begun;
    wire op_commit = any_commit && open;
    wire op_kill   = any_kill && !any_commit && open;
    wire take      = any_kind != RESEND;
    wire write     = any_kind <= 2'd1;
    wire read      = any_kind == RESEND || (write && any_read);
    wire emit      = !write || any_emit;
    wire [1:0] words = any_long ? 2'd2 : 2'd1;

    // ---- the model: a work counts when it is certain ----

    reg  [W-1:0] sum [0:3];
    reg  [1:0]   length [0:1];
    reg  [2:0]   kept_start;
    reg  [1:0]   kept_words, kept_kind;
    reg          kept_slot, kept_read, kept_emit;
    wire         certain = (op_valid && !any_spec) || op_commit;
    wire [2:0]   start = op_commit ? kept_start : any_start;
    wire [1:0]   count = op_commit ? kept_words : words;
    wire [1:0]   kind  = op_commit ? kept_kind : any_kind;
    wire         slot  = op_commit ? kept_slot : any_slot;
    wire         reads = op_commit ? kept_read : read;
    wire         emits = op_commit ? kept_emit : emit;
    wire [2:0]   second = start + 3'd1;
    wire [W-1:0] old_0 = sum[{slot, 1'b0}], old_1 = sum[{slot, 1'b1}];
    wire [W-1:0] new_0 = packets[start*W +: W], new_1 = packets[second*W +: W];
    wire [W-1:0] out_0 = kind == RESEND ? old_0 : reads ? {old_0[W-2:0], old_0[W-1]} ^ new_0 : new_0;
    wire [W-1:0] out_1 = kind == RESEND ? old_1 : reads ? {old_1[W-2:0], old_1[W-1]} ^ new_1 : new_1;

    // what is still to be emitted, the next word lowest
    reg  [8*W-1:0] queue = {8*W{1'b0}};
    reg  [3:0]     waiting = 4'd0;
    wire [8*W-1:0] added = {{(6*W){1'b0}}, count == 2'd2 ? out_1 : {W{1'b0}}, out_0} << (waiting * W);
    wire [8*W-1:0] queue_now   = certain && emits ? queue | added : queue;
    wire [3:0]     waiting_now = certain && emits ? waiting + {2'd0, count} : waiting;

    always @(posedge clk) begin
        if (op_valid && any_spec) begin
            open       <= 1'b1;
            kept_start <= any_start;
            kept_words <= words;
            kept_kind  <= any_kind;
            kept_slot  <= any_slot;
            kept_read  <= read;
            kept_emit  <= emit;
        end
        if (op_commit || op_kill) begin
            open <= 1'b0;
        end
        if (certain && kind <= 2'd1) begin
            sum[{slot, 1'b0}] <= out_0;
            if (count == 2'd2) begin
                sum[{slot, 1'b1}] <= out_1;
            end
            if (!reads) begin
                length[slot] <= count;
            end
        end
        queue   <= emit_valid ? queue_now >> W : queue_now;
        waiting <= emit_valid ? waiting_now - 4'd1 : waiting_now;
        if (rst) begin
            length[0] <= 2'd0;
            length[1] <= 2'd0;
        end
    end

    always @* begin
        if (op_valid) begin
            assume (any_start <= 3'd4);                    // words that are there
            assume (!read || words == length[any_slot]);   // slots that hold something, contributions of one length
        end
        assume (waiting <= 4'd5);
        if (begun && emit_valid) begin
            assert (waiting_now != 4'd0);
            assert (emit_data[W-1:0] == queue_now[W-1:0]);
        end
    end

    inc_aggregate_data #(
        .BYTES(4), .ROW(4), .SLOTS(2), .SLOT_W(1), .MTU_WORDS(2), .WORDS_W(2), .PKT_W(3), .STAGES(STAGES), .F32(1)
    ) dut (
        .clk(clk), .rst(rst), .op_ready(op_ready), .op_valid(op_valid), .op_spec(any_spec), .op_commit(op_commit), .op_kill(op_kill),
        .op_start(any_start - 3'd5), .op_imm(1'b0), .op_words(words), .op_slot(any_slot), .op_pair(1'b0), .op_read(read), .op_take(take), .op_write(write),
        .op_emit(emit), .op_reduce(1'b0), .op_pairs(1'b0), .op_function(2'd0), .op_dtype(2'd0), .op_big_endian(1'b0),
        .pkt_start(3'd0), .oldest(), .newest(3'd7), .rd_wants(), .rd_ready(rd_ready), .rd_en(rd_en), .rd_again(rd_again), .rd_imm(), .rd_addr(rd_addr), .rd_next(), .rd_data(rd_data), .rd_there(rd_there),
        .emit_room(emit_room), .emit_valid(emit_valid), .emit_bad(emit_bad), .emit_data(emit_data),
        .inject_valid(1'b0), .inject_flips(2'd0), .count_corrected(), .count_double()
    );
endmodule
