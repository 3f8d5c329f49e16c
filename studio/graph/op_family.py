"""The family of an operator: one word for what ONNX, TFLite and torch each call differently."""

from __future__ import annotations

import re
from functools import lru_cache

_PREFIXES = re.compile(
    r"^(aten::|aten\.|prim::|et_vk\.|xnnstatic|xnn(?!pack)|qlinear|fused|quantized::|com\.microsoft\.)",
    re.IGNORECASE,
)
_SUFFIXES = re.compile(r"(\.default|\.tensor|\.scalar|integer|_copy|_\dd|\dd|v\d)$", re.IGNORECASE)

_FAMILIES = {
    "conv": "conv depthwiseconv convolution fusedconv conv convrelu depthwiseconv2d nhwcconv",
    "deconv": "convtranspose transposeconv convolutiontranspose",
    "matmul": "matmul batchmatmul bmm mm fusedmatmul gemm fullyconnected linear addmm fusedgemm "
    "qgemm batchmatrixmultiply dynamicquantizematmul matmulintegertofloat matmulnbits",
    "relu": "relu relu6 clip hardtanh clamp relun1to1 relu0to1",
    "sigmoid": "sigmoid logistic",
    "softmax": "softmax",
    "maxpool": "maxpool maxpoolwithindices maxpooling",
    "avgpool": "averagepool avgpool globalaveragepool adaptiveavgpool mean reducemean avgpooling "
    "globalavgpooling",
    "concat": "concat concatenation cat concatenate2 concatenate3 concatenate4 concatenate5",
    "reshape": "reshape view flatten squeeze unsqueeze expanddims",
    "transpose": "transpose permute t",
    "quantize": "quantizelinear quantize quantizepertensor quantizeperchannel",
    "dequantize": "dequantizelinear dequantize dequantizepertensor dequantizeperchannel",
    "resize": "resize resizebilinear resizenearestneighbor upsample upsamplebilinear upsamplenearest",
    "pad": "pad padv constantpadnd mirrorpad constantpad",
    "gather": "gather embedding indexselect",
    "slice": "slice stridedslice",
    "batchnorm": "batchnormalization batchnorm nativebatchnormlegitnotraining",
    "layernorm": "layernormalization layernorm nativelayernorm",
    "pow": "pow powtensorscalar square",
    "mul": "mul multiply",
    "sub": "sub subtract",
    "max": "max maximum",
    "min": "min minimum",
    "neg": "neg negate",
    "ceil": "ceil ceiling",
    "sqrt": "sqrt squareroot",
    "rsqrt": "rsqrt reciprocalsquareroot",
    "attention": "attention scaleddotproductattention",
}  # fmt: skip
_FAMILY_OF = {word: family for family, words in _FAMILIES.items() for word in words.split()}

PASSING = frozenset(
    {"quantize", "dequantize", "cast", "identity", "reshape", "transpose", "relu", "batchnorm"}
)
"""Families that come and go between steps of a recipe; matching looks through them."""


@lru_cache(maxsize=4096)
def op_family(op: str) -> str:
    """`conv` for `Conv`, `CONV_2D`, `DEPTHWISE_CONV_2D`, `QLinearConv`, `aten.convolution.default`, …"""
    word = op[:120]
    for pattern in (_PREFIXES, _PREFIXES, _SUFFIXES, _SUFFIXES):
        word = pattern.sub("", word)
    word = re.sub(r"[^a-z0-9]", "", word.lower())
    return _FAMILY_OF.get(word, word)
