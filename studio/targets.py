"""Target: runtime × accelerator, the list of all that the studio knows.

A floor of its own below `graph`, since support, backends, devices, recipes and projects all
speak of targets and must not see each other for it. Ids are `runtime/accelerator`; what a
target takes is in `support`, what makes its files is in `backends`.
Source of names and formats: the design, section 3.
"""

from __future__ import annotations

from studio.errors import InputError
from studio.records import Record


class Target(Record):
    """One runtime on one accelerator, and the file formats that the runtime loads."""

    id: str
    title: str
    runtime: str
    accelerator: str
    formats: tuple[str, ...]
    is_accelerator: bool
    needs_soc: bool = False
    status: str = ""  # "deprecated", "maintenance" or empty
    successor: str = ""  # target id that the studio proposes instead
    can_convert: bool = True  # False: predicted from tables only


def _t(
    id_: str,
    title: str,
    formats: tuple[str, ...],
    *,
    accelerated: bool = True,
    needs_soc: bool = False,
    status: str = "",
    successor: str = "",
    can_convert: bool = True,
) -> Target:
    runtime, accelerator = id_.split("/")
    return Target(
        id=id_, title=title, runtime=runtime, accelerator=accelerator, formats=formats,
        is_accelerator=accelerated, needs_soc=needs_soc, status=status, successor=successor,
        can_convert=can_convert,
    )  # fmt: skip


TARGETS: dict[str, Target] = {
    t.id: t
    for t in (
        _t("ort/cpu", "ONNX Runtime · CPU", ("onnx", "ort"), accelerated=False),
        _t("ort/xnnpack", "ONNX Runtime · XNNPACK", ("onnx", "ort")),
        _t("ort/nnapi", "ONNX Runtime · NNAPI", ("onnx", "ort"), status="deprecated", successor="ort/qnn"),
        _t("ort/qnn", "ONNX Runtime · QNN", ("onnx", "ort"), needs_soc=True),
        _t("litert/cpu", "LiteRT · CPU", ("tflite",), accelerated=False),
        _t("litert/gpu", "LiteRT · GPU", ("tflite",)),
        _t("litert/nnapi", "LiteRT · NNAPI", ("tflite",), status="deprecated", successor="litert/gpu"),
        _t("litert/npu-qualcomm", "LiteRT · Qualcomm NPU", ("tflite",), needs_soc=True),
        _t("litert/npu-mediatek", "LiteRT · MediaTek NPU", ("tflite",), needs_soc=True),
        _t("litert/npu-google-tensor", "LiteRT · Google Tensor NPU", ("tflite",), needs_soc=True),
        _t("litert/npu-samsung", "LiteRT · Samsung NPU", ("tflite",), needs_soc=True),
        _t("executorch/portable", "ExecuTorch · portable", ("pte",), accelerated=False),
        _t("executorch/xnnpack", "ExecuTorch · XNNPACK", ("pte",)),
        _t("executorch/vulkan", "ExecuTorch · Vulkan", ("pte",)),
        _t("executorch/qnn", "ExecuTorch · QNN", ("pte",), needs_soc=True),
        _t("executorch/mediatek", "ExecuTorch · MediaTek", ("pte",), needs_soc=True),
        _t("executorch/samsung", "ExecuTorch · Samsung", ("pte",), needs_soc=True),
        _t("pytorch-mobile/cpu", "PyTorch Mobile · CPU", ("pt", "ptl"), accelerated=False,
           status="maintenance", successor="executorch/xnnpack"),
        _t("pytorch-mobile/nnapi", "PyTorch Mobile · NNAPI", ("pt", "ptl"),
           status="deprecated", successor="executorch/xnnpack"),
        _t("qualcomm/htp", "Qualcomm · HTP", ("dlc", "bin"), needs_soc=True),
        _t("huawei/hiai", "Huawei · HiAI", ("om",), needs_soc=True),
        _t("mediatek/neuropilot", "MediaTek · NeuroPilot", ("dla",), needs_soc=True),
        _t("mindspore-lite/cpu", "MindSpore Lite · CPU", ("ms",), accelerated=False),
        _t("mindspore-lite/kirin", "MindSpore Lite · Kirin NPU", ("ms",), needs_soc=True),
        _t("ncnn/cpu", "ncnn · CPU", (), accelerated=False, can_convert=False),
        _t("ncnn/vulkan", "ncnn · Vulkan", (), can_convert=False),
        _t("mnn/cpu", "MNN · CPU", (), accelerated=False, can_convert=False),
        _t("mnn/opencl", "MNN · OpenCL", (), can_convert=False),
        _t("mnn/hiai", "MNN · HiAI", (), needs_soc=True, can_convert=False),
    )
}  # fmt: skip

DEFAULT_TARGETS = ("ort/cpu", "ort/nnapi", "litert/gpu", "executorch/xnnpack")


def find_target(target_id: str) -> Target:
    """The target of that id. Raises InputError with the known ids otherwise."""
    try:
        return TARGETS[target_id]
    except KeyError:
        raise InputError(
            f"There is no target “{target_id}”.", hint=f"Known targets: {', '.join(TARGETS)}."
        ) from None
