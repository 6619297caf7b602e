"""Recurrent modules: directions, layers, batch first, initial states, last states.

The ncnn target leaves out the input without a batch and, with it, the last states, which ncnn
returns without the batch's dim.
"""

import torch.nn as nn

from suites.case import case

SEQUENCES = [(5, 1, 32), (1, 6, 32)]
STATES = [(2, 1, 16), (6, 1, 20)]
CELLS = [(2, 1, 16), (2, 1, 16), (6, 1, 20), (6, 1, 20)]
FLAT = (4, 32)


@case(inputs=[*SEQUENCES, *STATES, FLAT], ncnn_inputs=[*SEQUENCES, *STATES])
class nn_RNN(nn.Module):
    """ncnn has no ReLU in it."""

    def __init__(self):
        super().__init__()
        self.rnn_0 = nn.RNN(input_size=32, hidden_size=16)
        self.rnn_1 = nn.RNN(16, 16, num_layers=2, nonlinearity="tanh", bias=False)
        self.rnn_2 = nn.RNN(32, 20, num_layers=3, batch_first=True, bidirectional=True)
        self.rnn_3 = nn.RNN(40, 16, batch_first=True, bidirectional=True)
        self.rnn_4 = nn.RNN(32, 16, nonlinearity="relu", batch_first=True, bidirectional=True)

    def forward(self, x, y, h, bh, flat=None):
        x0, h0 = self.rnn_0(x)
        x1, h1 = self.rnn_1(x0, h)
        y0, _ = self.rnn_2(y, bh)
        y1, h3 = self.rnn_3(y0)
        if flat is None:
            return x1, y1
        y2, h4 = self.rnn_4(y)
        flattened, _ = self.rnn_0(flat)
        return x1, y1, y2, h0, h1, h3, h4, flattened


@case(inputs=[*SEQUENCES, *STATES, FLAT], ncnn_inputs=[*SEQUENCES, *STATES])
class nn_GRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru_0 = nn.GRU(input_size=32, hidden_size=16)
        self.gru_1 = nn.GRU(16, 16, num_layers=2, bias=False, dropout=0.3)
        self.gru_2 = nn.GRU(32, 20, num_layers=3, batch_first=True, bidirectional=True)
        self.gru_3 = nn.GRU(40, 16, batch_first=True, bidirectional=True)

    def forward(self, x, y, h, bh, flat=None):
        x0, h0 = self.gru_0(x)
        x1, h1 = self.gru_1(x0, h)
        y0, _ = self.gru_2(y, bh)
        y1, h3 = self.gru_3(y0)
        if flat is None:
            return x1, y1
        flattened, _ = self.gru_0(flat)
        return x1, y1, h0, h1, h3, flattened


@case(inputs=[*SEQUENCES, *CELLS, FLAT], ncnn_inputs=[*SEQUENCES, *CELLS])
class nn_LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm_0 = nn.LSTM(input_size=32, hidden_size=16)
        self.lstm_1 = nn.LSTM(16, 16, num_layers=2, bias=False, dropout=0.3)
        self.lstm_2 = nn.LSTM(32, 20, num_layers=3, batch_first=True, bidirectional=True)
        self.lstm_3 = nn.LSTM(40, 16, batch_first=True, bidirectional=True)
        self.lstm_4 = nn.LSTM(32, 24, proj_size=10, batch_first=True, bidirectional=True)

    def forward(self, x, y, h, c, bh, bc, flat=None):
        x0, (h0, c0) = self.lstm_0(x)
        x1, (h1, c1) = self.lstm_1(x0, (h, c))
        y0, _ = self.lstm_2(y, (bh, bc))
        y1, (h3, c3) = self.lstm_3(y0)
        y2, (h4, c4) = self.lstm_4(y)
        if flat is None:
            return x1, y1, y2
        flattened, _ = self.lstm_0(flat)
        return x1, y1, y2, h0, c0, h1, c1, h3, c3, h4, c4, flattened
