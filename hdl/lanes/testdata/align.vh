            // What is proved of the alignment, for any operand and shift: the operand in full, shifted, and whether anything
            // but zeros fell out. The test puts this text before the next step.
            wire [56:0] f_full = {align0, 31'd0} >> by_b;
            always @* begin
                assert (align16 == f_full[56:31]);
                assert (lost == (f_full[30:0] != 31'd0));
            end

