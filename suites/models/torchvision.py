"""Classifiers of torchvision, with the weights that a fresh model has."""

import torch.nn as nn
import torchvision.models

from suites.case import case

IMAGE = (1, 3, 224, 224)


class Model(nn.Module):
    """A torchvision model whose batch-norms have statistics of their own, by name."""

    def __init__(self, name):
        super().__init__()
        self.model = getattr(torchvision.models, name)(weights=None)
        for module in self.model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.running_mean.uniform_(-0.1, 0.1)
                module.running_var.uniform_(0.8, 1.2)

    def forward(self, image):
        return self.model(image)


@case(inputs=[IMAGE], needs=("torchvision",), targets=("pnnx", "ncnn"))
class resnet18(Model):
    def __init__(self):
        super().__init__("resnet18")


@case(inputs=[IMAGE], needs=("torchvision",), targets=("pnnx", "ncnn"))
class mobilenet_v2(Model):
    def __init__(self):
        super().__init__("mobilenet_v2")


@case(inputs=[IMAGE], needs=("torchvision",), targets=("pnnx", "ncnn"))
class squeezenet1_1(Model):
    def __init__(self):
        super().__init__("squeezenet1_1")
