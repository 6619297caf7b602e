"""Classifiers of torchvision, with random weights."""

import itertools

import torch
import torch.nn as nn
import torchvision.models

from suites.case import case

IMAGE = (1, 3, 224, 224)


class Model(nn.Module):
    """A torchvision model by name. What a fresh one has of zeros or ones alone is varied: else some
    would return zeros, and batch-norms do nothing.
    """

    def __init__(self, name, models=torchvision.models, **options):
        super().__init__()
        self.model = getattr(models, name)(weights=None, **options)
        with torch.no_grad():
            for tensor in itertools.chain(self.model.parameters(), self.model.buffers()):
                if tensor.is_floating_point() and tensor.min() == tensor.max():
                    tensor += torch.empty_like(tensor).uniform_(-0.1, 0.1)

    def forward(self, image):
        return self.model(image)


@case(inputs=[IMAGE], needs=("torchvision",), targets=("pnnx", "ncnn"))
class convnext_tiny(Model):
    def __init__(self):
        super().__init__("convnext_tiny")


@case(inputs=[IMAGE], needs=("torchvision",), targets=("pnnx", "ncnn"))
class mobilenet_v2(Model):
    def __init__(self):
        super().__init__("mobilenet_v2")


@case(inputs=[IMAGE], needs=("torchvision",), targets=("pnnx", "ncnn"))
class mobilenet_v3_small(Model):
    def __init__(self):
        super().__init__("mobilenet_v3_small")


@case(inputs=[IMAGE], needs=("torchvision",))
class quantization_shufflenet_v2_x1_0(Model):
    """The model that is made to be quantized, before it is: torch exports no quantized one."""

    def __init__(self):
        super().__init__("shufflenet_v2_x1_0", torchvision.models.quantization, quantize=False)


@case(inputs=[IMAGE], needs=("torchvision",), targets=("pnnx", "ncnn"))
class resnet18(Model):
    def __init__(self):
        super().__init__("resnet18")


@case(inputs=[IMAGE], needs=("torchvision",), targets=("pnnx", "ncnn"))
class shufflenet_v2_x1_0(Model):
    def __init__(self):
        super().__init__("shufflenet_v2_x1_0")


@case(inputs=[IMAGE], needs=("torchvision",), targets=("pnnx", "ncnn"))
class squeezenet1_1(Model):
    def __init__(self):
        super().__init__("squeezenet1_1")


@case(inputs=[IMAGE], needs=("torchvision",))
class swin_t(Model):
    def __init__(self):
        super().__init__("swin_t")


@case(inputs=[IMAGE], needs=("torchvision",), targets=("pnnx", "ncnn"))
class vit_b_32(Model):
    def __init__(self):
        super().__init__("vit_b_32")
