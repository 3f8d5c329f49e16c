"""Recipe: an ordered list of steps, plain data. A step names the step (or "source") it works on."""

from __future__ import annotations

from studio.recipes.edit_records import Edit
from studio.records import Choice, Record

SOURCE = "source"


class InputSpec(Record):
    """An input of a torch model: name, numpy dtype, shape with symbolic dims as text."""

    name: str
    dtype: str = "float32"
    shape: tuple[int | str, ...] = ()


class Preprocessing(Record):
    """From an image or array to the model's input; used by calibration, verification and phones alike.

    Order: resize to `height` × `width` (bilinear, Pillow) → float in 0..1 → (x − mean) / std per
    channel → layout. `color`: "rgb", "bgr" or "gray". Zero height = keep the size.
    """

    height: int = 0
    width: int = 0
    color: str = "rgb"
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    layout: str = "NCHW"
    scale: float = 1.0 / 255.0  # applied to integer images before mean and std


class Exporter(Choice):
    """Which exporter of torch.onnx; auto tries dynamo first, then TorchScript."""

    AUTO = "auto"
    DYNAMO = "dynamo"
    TORCHSCRIPT = "torchscript"


class QuantizeScheme(Choice):
    """How to quantize an ONNX graph."""

    STATIC = "static"  # QDQ, int8 weights and activations, needs calibration data
    DYNAMIC = "dynamic"  # int8 weights, activations at run time
    FLOAT16 = "float16"


class Calibration(Choice):
    """How static quantization chooses ranges."""

    MINMAX = "minmax"
    ENTROPY = "entropy"
    PERCENTILE = "percentile"


class ExportStep(Record, tag="export", tag_field="kind"):
    """torch → ONNX."""

    id: str
    after: str = SOURCE
    opset: int = 18
    exporter: Exporter = Exporter.AUTO
    dynamic_batch: bool = False


class FixStep(Record, tag="fix", tag_field="kind"):
    """ONNX → ONNX that a target takes better, proven equal. `fix`: an id of `recipes.fixes.FIXES`."""

    id: str
    after: str
    fix: str
    dims: dict[str, int] = {}
    opset: int = 0
    limit: float = 65504.0
    target: str = ""
    nodes: tuple[str, ...] = ()


class EditStep(Record, tag="edit", tag_field="kind"):
    """ONNX → ONNX with light edits, in order (`recipes.edits`)."""

    id: str
    after: str
    edits: tuple[Edit, ...] = ()


class QuantizeStep(Record, tag="quantize", tag_field="kind"):
    """ONNX → ONNX with fewer bits."""

    id: str
    after: str
    scheme: QuantizeScheme = QuantizeScheme.STATIC
    calibration: Calibration = Calibration.MINMAX
    samples: int = 200
    per_channel: bool = True
    keep_float: tuple[str, ...] = ()  # node names left in float


class ConvertStep(Record, tag="convert", tag_field="kind"):
    """→ the file that a runtime loads. `format`: "ort", "tflite", "pte"."""

    id: str
    after: str
    format: str
    target: str = ""  # which target's lowering, e.g. executorch/xnnpack
    optimization: str = "auto"  # .ort only: "auto", "disabled", "basic", "extended", "all"
    etrecord: bool = False  # .pte only: keep the graph before delegation beside it, with all weights


class VerifyStep(Record, tag="verify", tag_field="kind"):
    """Load what was made, run it and the float source on the same real inputs, compare."""

    id: str
    after: str
    samples: int = 200
    max_accuracy_loss: float | None = None  # fraction, 0.01 = one point; None = no budget
    min_snr_db: float | None = None


Step = ExportStep | EditStep | FixStep | QuantizeStep | ConvertStep | VerifyStep


class Recipe(Record):
    """The steps in order; each `id` is unique and each `after` names "source" or an earlier id."""

    steps: tuple[Step, ...] = ()
