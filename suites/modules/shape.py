"""Modules that pad, fold, shuffle and resize.

The ncnn target leaves out inputs without a batch and what its layers lack.
"""

import torch.nn as nn

from suites.case import case


class Each(nn.Module):
    """Every module on a batch; with an input that has none, the first on it and what ncnn lacks."""

    def __init__(self, *modules, beyond=None):
        super().__init__()
        self.each = nn.ModuleList(modules)
        self.beyond = beyond

    def forward(self, x, y=None):
        results = tuple(module(x) for module in self.each)
        if y is None:
            return results
        if self.beyond is not None:
            results += (self.beyond(x),)
        return *results, self.each[0](y)


@case(inputs=[(1, 12, 13), (3, 5)], ncnn_inputs=[(1, 12, 13)])
class nn_ConstantPad1d(Each):
    def __init__(self):
        super().__init__(
            nn.ConstantPad1d(2, 0.3),
            nn.ConstantPad1d((3, 4), -1),
            nn.ConstantPad1d(padding=(0, 1), value=0.0),
            beyond=nn.ConstantPad1d((-1, 2), 7.5),
        )


@case(inputs=[(1, 12, 13, 14), (3, 5, 6)], ncnn_inputs=[(1, 12, 13, 14)])
class nn_ConstantPad2d(Each):
    def __init__(self):
        super().__init__(
            nn.ConstantPad2d(2, 0.3),
            nn.ConstantPad2d((3, 4, 5, 6), -1),
            nn.ConstantPad2d(padding=(0, 1, 2, 0), value=0.0),
            beyond=nn.ConstantPad2d((-1, 2, 3, -2), 7.5),
        )


@case(inputs=[(1, 12, 5, 6, 7), (3, 4, 5, 6)], ncnn_inputs=[(1, 12, 5, 6, 7)])
class nn_ConstantPad3d(Each):
    def __init__(self):
        super().__init__(
            nn.ConstantPad3d(2, 0.3),
            nn.ConstantPad3d((3, 4, 5, 6, 1, 2), -1),
            nn.ConstantPad3d(padding=(0, 1, 2, 0, 0, 3), value=0.0),
            beyond=nn.ConstantPad3d((-1, 2, 3, -2, 0, 1), 7.5),
        )


@case(inputs=[(1, 12, 13, 14), (3, 5, 6)], ncnn_inputs=[(1, 12, 13, 14)])
class nn_ZeroPad2d(Each):
    def __init__(self):
        super().__init__(
            nn.ZeroPad2d(2), nn.ZeroPad2d((3, 4, 5, 6)), beyond=nn.ZeroPad2d(padding=(-1, 1, 0, 2))
        )


@case(inputs=[(1, 12, 13), (3, 5)], targets=("pnnx", "ncnn"))
class nn_ReflectionPad1d(Each):
    def __init__(self):
        super().__init__(nn.ReflectionPad1d(4), nn.ReflectionPad1d((3, 2)))


@case(inputs=[(1, 12, 13, 14), (3, 5, 6)], targets=("pnnx", "ncnn"))
class nn_ReflectionPad2d(Each):
    def __init__(self):
        super().__init__(nn.ReflectionPad2d(4), nn.ReflectionPad2d((3, 2, 0, 5)))


@case(inputs=[(1, 12, 13), (3, 5)], targets=("pnnx", "ncnn"))
class nn_ReplicationPad1d(Each):
    def __init__(self):
        super().__init__(nn.ReplicationPad1d(4), nn.ReplicationPad1d((3, 2)))


@case(inputs=[(1, 12, 13, 14), (3, 5, 6)], targets=("pnnx", "ncnn"))
class nn_ReplicationPad2d(Each):
    def __init__(self):
        super().__init__(nn.ReplicationPad2d(4), nn.ReplicationPad2d((3, 2, 0, 5)))


@case(inputs=[(1, 12, 5, 6, 7), (3, 4, 5, 6)], targets=("pnnx", "ncnn"))
class nn_ReplicationPad3d(Each):
    def __init__(self):
        super().__init__(nn.ReplicationPad3d(4), nn.ReplicationPad3d((3, 2, 0, 5, 1, 6)))


@case(inputs=[(1, 108, 680), (36, 680)], ncnn_inputs=[(1, 108, 680)])
class nn_Fold(nn.Module):
    def __init__(self):
        super().__init__()
        self.fold_0 = nn.Fold(output_size=(22, 36), kernel_size=3)
        self.fold_1 = nn.Fold((39, 66), kernel_size=(2, 3), stride=(2, 2), padding=(0, 1))
        self.fold_2 = nn.Fold((40, 68), (3, 3), dilation=2, padding=1, stride=2)

    def forward(self, x, y=None):
        folded = self.fold_0(x), self.fold_1(x[:, :, :627]), self.fold_2(x[:, :, :627])
        return folded if y is None else (*folded, self.fold_0(y))


@case(inputs=[(1, 12, 64, 48), (3, 20, 24)], ncnn_inputs=[(1, 12, 64, 48)])
class nn_Unfold(Each):
    def __init__(self):
        super().__init__(
            nn.Unfold(kernel_size=3),
            nn.Unfold((2, 4), stride=(2, 1), padding=2, dilation=1),
            nn.Unfold(kernel_size=(1, 3), dilation=(1, 2), padding=(0, 1), stride=1),
        )


@case(inputs=[(1, 144, 6, 7), (36, 4, 3)], ncnn_inputs=[(1, 144, 6, 7)])
class nn_PixelShuffle(Each):
    def __init__(self):
        super().__init__(nn.PixelShuffle(2), nn.PixelShuffle(upscale_factor=4), nn.PixelShuffle(3))


@case(inputs=[(1, 3, 24, 36), (2, 6, 12)], ncnn_inputs=[(1, 3, 24, 36)])
class nn_PixelUnshuffle(Each):
    def __init__(self):
        super().__init__(
            nn.PixelUnshuffle(2), nn.PixelUnshuffle(downscale_factor=4), nn.PixelUnshuffle(3)
        )


@case(inputs=[(1, 12, 8, 9), (1, 24, 5, 6)], targets=("pnnx", "ncnn"))
class nn_ChannelShuffle(Each):
    def __init__(self):
        super().__init__(nn.ChannelShuffle(2), nn.ChannelShuffle(groups=3), nn.ChannelShuffle(12))


@case(
    inputs=[(1, 12, 32), (1, 12, 16, 24), (1, 3, 6, 8, 10)],
    ncnn_inputs=[(1, 12, 32), (1, 12, 16, 24)],
)
class nn_Upsample(nn.Module):
    def __init__(self):
        super().__init__()
        self.lines = nn.ModuleList(
            [
                nn.Upsample(size=16),
                nn.Upsample(scale_factor=2, mode="nearest"),
                nn.Upsample(size=(20,), mode="linear"),
                nn.Upsample(scale_factor=3, mode="linear", align_corners=True),
            ]
        )
        self.planes = nn.ModuleList(
            [
                nn.Upsample(size=(24, 40)),
                nn.Upsample(scale_factor=(1.5, 2)),
                nn.Upsample(size=(20, 30), mode="bilinear"),
                nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
                nn.Upsample(scale_factor=1.6, mode="bilinear", recompute_scale_factor=True),
                nn.Upsample(size=(40, 50), mode="bicubic"),
                nn.Upsample(scale_factor=(2, 3), mode="bicubic", align_corners=True),
            ]
        )
        self.blocks = nn.ModuleList(
            [
                nn.Upsample(size=(9, 12, 15)),
                nn.Upsample(scale_factor=2, mode="trilinear"),
                nn.Upsample(size=(5, 12, 20), mode="trilinear", align_corners=True),
            ]
        )

    def forward(self, x, y, z=None):
        flat = *[line(x) for line in self.lines], *[plane(y) for plane in self.planes]
        return flat if z is None else (*flat, *[block(z) for block in self.blocks])


@case(inputs=[(1, 12, 24, 32), (1, 3, 5, 6)], targets=("pnnx", "ncnn"))
class nn_UpsamplingBilinear2d(Each):
    def __init__(self):
        super().__init__(
            nn.UpsamplingBilinear2d(scale_factor=2),
            nn.UpsamplingBilinear2d(size=(36, 20)),
            nn.UpsamplingBilinear2d(scale_factor=(1.5, 3)),
            nn.UpsamplingBilinear2d(12),
        )


@case(inputs=[(1, 12, 24, 32), (1, 3, 5, 6)], targets=("pnnx", "ncnn"))
class nn_UpsamplingNearest2d(Each):
    def __init__(self):
        super().__init__(
            nn.UpsamplingNearest2d(scale_factor=2),
            nn.UpsamplingNearest2d(size=(36, 20)),
            nn.UpsamplingNearest2d(scale_factor=(1.5, 3)),
            nn.UpsamplingNearest2d(12),
        )
