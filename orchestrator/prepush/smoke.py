"""A dozen cases, over the suites, that use much of what everything goes through."""

SMOKE = (
    "F_relu",
    "nn_Conv2d",
    "nn_BatchNorm2d",
    "nn_LSTM",
    "nn_MultiheadAttention",
    "F_interpolate",
    "Tensor_slice",
    "torch_topk",
    "torch_cat",
    "torch_stft",
    "pnnx_expression",
    "transformers_bert_attention",
)
