<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>AboutDialog</name>
    <message>
        <source>About Deployment Studio</source>
        <translation>关于 Deployment Studio</translation>
    </message>
    <message>
        <source>Takes a trained PyTorch or ONNX model to an Android phone, and shows what will happen there. Nothing is sent anywhere: no telemetry, no update check.</source>
        <translation>把训练好的 PyTorch 或 ONNX 模型带到安卓手机上，并说明在那里会发生什么。不向任何地方发送数据：没有遥测，也不检查更新。</translation>
    </message>
    <message>
        <source>Apache License 2.0. Licences of others: THIRD_PARTY_NOTICES.md.</source>
        <translation>Apache 许可证 2.0。第三方许可证见 THIRD_PARTY_NOTICES.md。</translation>
    </message>
    <message>
        <source>Copy versions</source>
        <translation>复制版本信息</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>AdvicePanel</name>
    <message>
        <source>What it means</source>
        <translation>这意味着什么</translation>
    </message>
    <message>
        <source>Choose targets in the bar of the main window.</source>
        <translation>请在主窗口的目标栏中选择目标。</translation>
    </message>
</context>
<context>
    <name>AttributeDialog</name>
    <message>
        <source>Attribute</source>
        <translation>属性</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>empty = the operator&apos;s default</source>
        <translation>留空 = 算子的默认值</translation>
    </message>
    <message>
        <source>A number, a word, or a list: [1, 1, 2, 2]</source>
        <translation>数字、单词或列表：[1, 1, 2, 2]</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Another way</source>
        <translation>其他方式</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy the message with its details</source>
        <translation>复制消息及其详情</translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation>关闭此消息</translation>
    </message>
</context>
<context>
    <name>BlockDialog</name>
    <message>
        <source>Compare blocks</source>
        <translation>比较块</translation>
    </message>
    <message>
        <source>{same} nodes same · {changed} changed · {added} added · {removed} removed</source>
        <translation>节点：相同 {same} · 变化 {changed} · 新增 {added} · 删除 {removed}</translation>
    </message>
    <message>
        <source>Both are the same but for their weights: {n} nodes.</source>
        <translation>两者除权重外相同：{n} 个节点。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>BookmarkDialog</name>
    <message>
        <source>Bookmarks</source>
        <translation>书签</translation>
    </message>
    <message>
        <source>None yet. Select a node and add one with Ctrl+B; the project keeps it.</source>
        <translation>暂无。选择节点并按 Ctrl+B 添加；会保存在项目中。</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Go there</source>
        <translation>前往</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Delete bookmark {name}</source>
        <translation>删除书签 {name}</translation>
    </message>
    <message>
        <source>Rename bookmark {name}</source>
        <translation>重命名书签 {name}</translation>
    </message>
</context>
<context>
    <name>Canvas</name>
    <message>
        <source>added</source>
        <translation>新增</translation>
    </message>
    <message>
        <source>removed</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>same</source>
        <translation>相同</translation>
    </message>
    <message>
        <source>changed</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Double-click or Enter opens it.</source>
        <translation>双击或按 Enter 键展开。</translation>
    </message>
    <message>
        <source>Input of the graph</source>
        <translation>图的输入</translation>
    </message>
    <message>
        <source>Output of the graph</source>
        <translation>图的输出</translation>
    </message>
    <message>
        <source>and {count} more</source>
        <translation>以及另外 {count} 个</translation>
    </message>
    <message>
        <source>No node has a figure above 0.</source>
        <translation>没有节点的数值大于 0。</translation>
    </message>
    <message>
        <source>unknown: {count} nodes</source>
        <translation>未知：{count} 个节点</translation>
    </message>
    <message>
        <source>runs</source>
        <translation>可运行</translation>
    </message>
    <message>
        <source>conditional</source>
        <translation>有条件</translation>
    </message>
    <message>
        <source>falls back</source>
        <translation>回退</translation>
    </message>
    <message>
        <source>fails</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>partition {number} of {count}</source>
        <translation>第 {number} 个分区，共 {count} 个</translation>
    </message>
    <message>
        <source>in one of {count} partitions</source>
        <translation>位于 {count} 个分区之一</translation>
    </message>
    <message>
        <source>not on the accelerator</source>
        <translation>不在加速器上</translation>
    </message>
    <message>
        <source>Partitions · {target}</source>
        <translation>分区 · {target}</translation>
    </message>
    <message>
        <source>Quantisation</source>
        <translation>量化</translation>
    </message>
    <message>
        <source>integer</source>
        <translation>整数</translation>
    </message>
    <message>
        <source>float</source>
        <translation>浮点</translation>
    </message>
    <message>
        <source>quantize / dequantize</source>
        <translation>量化 / 反量化</translation>
    </message>
    <message>
        <source>requantize pair</source>
        <translation>重量化对</translation>
    </message>
    <message>
        <source>float island</source>
        <translation>浮点孤岛</translation>
    </message>
    <message>
        <source>no arithmetic on activations</source>
        <translation>不对激活做运算</translation>
    </message>
    <message>
        <source>Computes in integers.</source>
        <translation>以整数计算。</translation>
    </message>
    <message>
        <source>Computes in floating point.</source>
        <translation>以浮点计算。</translation>
    </message>
    <message>
        <source>Goes between floating point and integers.</source>
        <translation>在浮点与整数之间转换。</translation>
    </message>
    <message>
        <source>Only changes scale or zero point: often a sign of mismatched parameters.</source>
        <translation>只改变 scale 或 zero point：通常说明参数不匹配。</translation>
    </message>
    <message>
        <source>Computes in floating point inside a quantised model.</source>
        <translation>在量化模型中以浮点计算。</translation>
    </message>
    <message>
        <source>Does not compute on activations.</source>
        <translation>不对激活做计算。</translation>
    </message>
    <message>
        <source>Not compared.</source>
        <translation>未比较。</translation>
    </message>
    <message>
        <source>Latency · {target}</source>
        <translation>延迟 · {target}</translation>
    </message>
    <message>
        <source>Mean latency · {target}</source>
        <translation>平均延迟 · {target}</translation>
    </message>
    <message>
        <source>No time: computed once, at load.</source>
        <translation>不耗时：加载时计算一次。</translation>
    </message>
    <message>
        <source>Not timed: it ran in no kernel that can be attributed to it.</source>
        <translation>没有时间：没有可归属于它的内核。</translation>
    </message>
    <message>
        <source>Runs inside the kernel of {node}.</source>
        <translation>在 {node} 的内核中运行。</translation>
    </message>
    <message>
        <source>p50 {p50}, p90 {p90} over {n} inferences</source>
        <translation>p50 {p50}，p90 {p90}，共 {n} 次推理</translation>
    </message>
    <message>
        <source>mean {mean} over {n} inferences</source>
        <translation>{n} 次推理的平均值为 {mean}</translation>
    </message>
    <message>
        <source>Part of the time of the node around it.</source>
        <translation>已计入外层节点的时间。</translation>
    </message>
    <message>
        <source>{share} of {total} in all kernels</source>
        <translation>占全部内核 {total} 的 {share}</translation>
    </message>
    <message>
        <source>One kernel with {n} other nodes</source>
        <translation>与另外 {n} 个节点合为一个内核</translation>
    </message>
    <message>
        <source>mean {time}</source>
        <translation>平均 {time}</translation>
    </message>
    <message>
        <source>Error, relative to the signal</source>
        <translation>相对于信号的误差</translation>
    </message>
    <message>
        <source>{n} values are NaN or infinite</source>
        <translation>{n} 个值为 NaN 或无穷</translation>
    </message>
    <message>
        <source>equal</source>
        <translation>相等</translation>
    </message>
    <message>
        <source>cosine {cosine} · mean error {mean} · largest {largest}</source>
        <translation>余弦 {cosine} · 平均误差 {mean} · 最大 {largest}</translation>
    </message>
</context>
<context>
    <name>CellReasons</name>
    <message>
        <source>… and {n} more</source>
        <translation>……另有 {n} 条</translation>
    </message>
    <message>
        <source>No reason is given.</source>
        <translation>没有给出原因。</translation>
    </message>
    <message>
        <source>Show 1 node</source>
        <translation>显示 1 个节点</translation>
    </message>
    <message>
        <source>Show {n} nodes</source>
        <translation>显示 {n} 个节点</translation>
    </message>
</context>
<context>
    <name>ChangeTable</name>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Node</source>
        <translation>节点</translation>
    </message>
    <message>
        <source>What</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>之前</translation>
    </message>
    <message>
        <source>After</source>
        <translation>之后</translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>Command palette</source>
        <translation>命令面板</translation>
    </message>
    <message>
        <source>Search commands</source>
        <translation>搜索命令</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
</context>
<context>
    <name>CompareCanvas</name>
    <message>
        <source>First graph</source>
        <translation>第一个图</translation>
    </message>
    <message>
        <source>Second graph</source>
        <translation>第二个图</translation>
    </message>
</context>
<context>
    <name>CompareView</name>
    <message>
        <source>added</source>
        <translation>新增</translation>
    </message>
    <message>
        <source>removed</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>operator</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>attribute</source>
        <translation>属性</translation>
    </message>
    <message>
        <source>shape</source>
        <translation>形状</translation>
    </message>
    <message>
        <source>type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>quantisation</source>
        <translation>量化</translation>
    </message>
    <message>
        <source>inputs</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Differences</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>First graph</source>
        <translation>第一个图</translation>
    </message>
    <message>
        <source>Second graph</source>
        <translation>第二个图</translation>
    </message>
    <message>
        <source>Compare weights</source>
        <translation>比较权重</translation>
    </message>
    <message>
        <source>Reads all constants of both files; small ones are always compared.</source>
        <translation>读取两个文件的全部常量；较小的常量总会比较。</translation>
    </message>
    <message>
        <source>Other file…</source>
        <translation>其他文件…</translation>
    </message>
    <message>
        <source>Choose two different graphs.</source>
        <translation>请选择两个不同的图。</translation>
    </message>
    <message>
        <source>Opening {file}…</source>
        <translation>正在打开 {file}…</translation>
    </message>
    <message>
        <source>Compare {first} with {second}</source>
        <translation>比较 {first} 与 {second}</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Comparing was cancelled.</source>
        <translation>比较已取消。</translation>
    </message>
    <message>
        <source>Compare again</source>
        <translation>重新比较</translation>
    </message>
    <message>
        <source>{same} same · {changed} changed · {added} added · {removed} removed</source>
        <translation>相同 {same} · 变化 {changed} · 新增 {added} · 删除 {removed}</translation>
    </message>
</context>
<context>
    <name>ConvertPage</name>
    <message>
        <source>Convert</source>
        <translation>转换</translation>
    </message>
    <message>
        <source>Makes the files that the runtimes on the phone load.</source>
        <translation>生成手机上运行时要加载的文件。</translation>
    </message>
    <message>
        <source>&amp;Run convert</source>
        <translation>运行转换(&amp;R)</translation>
    </message>
    <message>
        <source>Opens faster than .onnx: it is optimized already.</source>
        <translation>比 .onnx 打开更快：已预先优化。</translation>
    </message>
    <message>
        <source>Optimization</source>
        <translation>优化</translation>
    </message>
    <message>
        <source>Automatic: as the target wants it</source>
        <translation>自动：按目标的要求</translation>
    </message>
    <message>
        <source>extended: fused for the CPU</source>
        <translation>extended：为 CPU 融合</translation>
    </message>
    <message>
        <source>basic: accelerators can take its nodes</source>
        <translation>basic：加速器可接受其节点</translation>
    </message>
    <message>
        <source>all: for processors like this one only</source>
        <translation>all：仅适用于与本机相同的处理器</translation>
    </message>
    <message>
        <source>disabled: as it was exported</source>
        <translation>disabled：保持导出时的样子</translation>
    </message>
    <message>
        <source>For LiteRT&apos;s CPU, GPU and NPU delegates; float.</source>
        <translation>用于 LiteRT 的 CPU、GPU 和 NPU 委托；浮点。</translation>
    </message>
    <message>
        <source>For ExecuTorch; the accelerator is chosen while converting.</source>
        <translation>用于 ExecuTorch；加速器在转换时选定。</translation>
    </message>
    <message>
        <source>Lower for</source>
        <translation>针对</translation>
    </message>
    <message>
        <source>&amp;Keep an ETRecord (for profiling)</source>
        <translation>保留 ETRecord（用于性能分析）(&amp;K)</translation>
    </message>
    <message>
        <source>Change convert</source>
        <translation>更改转换</translation>
    </message>
    <message>
        <source>is made from a torch source; this project starts from ONNX.</source>
        <translation>需由 torch 源模型生成；此项目以 ONNX 为起点。</translation>
    </message>
</context>
<context>
    <name>CutDialog</name>
    <message>
        <source>Inputs</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>Outputs</source>
        <translation>输出</translation>
    </message>
</context>
<context>
    <name>DataField</name>
    <message>
        <source>pictures/ or data.npz, inside the project&apos;s folder</source>
        <translation>pictures/ 或 data.npz，须在项目文件夹内</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>文件夹…</translation>
    </message>
    <message>
        <source>File…</source>
        <translation>文件…</translation>
    </message>
    <message>
        <source>None named.</source>
        <translation>未指定。</translation>
    </message>
    <message>
        <source>Folder of pictures</source>
        <translation>图片文件夹</translation>
    </message>
    <message>
        <source>Arrays (*.npz *.npy)</source>
        <translation>数组 (*.npz *.npy)</translation>
    </message>
    <message>
        <source>Array file</source>
        <translation>数组文件</translation>
    </message>
    <message>
        <source>{n} pictures, the first is {size}</source>
        <translation>{n} 张图片，第一张为 {size}</translation>
    </message>
    <message>
        <source>{n} samples, {dtype} {size}</source>
        <translation>{n} 个样本，{dtype} {size}</translation>
    </message>
    <message>
        <source>with labels</source>
        <translation>带标签</translation>
    </message>
</context>
<context>
    <name>DeployPage</name>
    <message>
        <source>Deploy</source>
        <translation>部署</translation>
    </message>
    <message>
        <source>Runs a result on a device, measures it, and compares its outputs with the original&apos;s.</source>
        <translation>在设备上运行结果并测量，同时把输出与原模型比较。</translation>
    </message>
    <message>
        <source>&amp;Device</source>
        <translation>设备(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Result</source>
        <translation>结果(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Target</source>
        <translation>目标(&amp;T)</translation>
    </message>
    <message>
        <source>T&amp;hreads</source>
        <translation>线程数(&amp;H)</translation>
    </message>
    <message>
        <source>burst: as fast as it goes, for some seconds</source>
        <translation>突发：全速运行几秒</translation>
    </message>
    <message>
        <source>sustained: for minutes, to see it grow hot and slow</source>
        <translation>持续：运行数分钟，观察发热与降速</translation>
    </message>
    <message>
        <source>cadence: at a fixed rate with idle gaps, as an app does</source>
        <translation>定频：固定频率并留有空闲，像应用那样</translation>
    </message>
    <message>
        <source>&amp;Mode</source>
        <translation>模式(&amp;M)</translation>
    </message>
    <message>
        <source>Deploy &amp;&amp; r&amp;un</source>
        <translation>部署并运行(&amp;U)</translation>
    </message>
    <message>
        <source>Run all &amp;steps</source>
        <translation>运行所有步骤(&amp;S)</translation>
    </message>
    <message>
        <source>(simulated)</source>
        <translation>（模拟）</translation>
    </message>
    <message>
        <source>Looking for devices…</source>
        <translation>正在查找设备…</translation>
    </message>
    <message>
        <source>Choose a device.</source>
        <translation>请选择设备。</translation>
    </message>
    <message>
        <source>There is no result yet: run the steps before this page.</source>
        <translation>尚无结果：请先运行前面的步骤。</translation>
    </message>
    <message>
        <source>This device has no runtime for this file.</source>
        <translation>该设备没有适用于此文件的运行时。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>running: n {n}, p50 {p50} ms, p90 {p90} ms</source>
        <translation>运行中：n {n}，p50 {p50} ms，p90 {p90} ms</translation>
    </message>
    <message>
        <source>Preparing inputs and the float original…</source>
        <translation>正在准备输入和浮点原模型…</translation>
    </message>
    <message>
        <source>Last run</source>
        <translation>上次运行</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>延迟</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>{ran} (asked for {asked})</source>
        <translation>{ran}（要求 {asked}）</translation>
    </message>
    <message>
        <source>Ran on</source>
        <translation>实际运行于</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>误差</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>精度</translation>
    </message>
</context>
<context>
    <name>DeployWizard</name>
    <message>
        <source>Wizard</source>
        <translation>向导</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>&lt; &amp;Back</source>
        <translation>&lt; 上一步(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Next &gt;</source>
        <translation>下一步(&amp;N) &gt;</translation>
    </message>
    <message>
        <source>&amp;Finish</source>
        <translation>完成(&amp;F)</translation>
    </message>
</context>
<context>
    <name>DeviceList</name>
    <message>
        <source>DEVICES</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Connect a phone over Wi-Fi…</source>
        <translation>通过 Wi-Fi 连接手机…</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>unauthorized</source>
        <translation>未授权</translation>
    </message>
    <message>
        <source>authorizing</source>
        <translation>正在授权</translation>
    </message>
    <message>
        <source>offline</source>
        <translation>离线</translation>
    </message>
    <message>
        <source>no permissions</source>
        <translation>无权限</translation>
    </message>
    <message>
        <source>recovery</source>
        <translation>恢复模式</translation>
    </message>
    <message>
        <source>sideload</source>
        <translation>旁加载</translation>
    </message>
    <message>
        <source>bootloader</source>
        <translation>引导程序</translation>
    </message>
    <message>
        <source>connecting</source>
        <translation>正在连接</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
</context>
<context>
    <name>DevicePanel</name>
    <message>
        <source>To use a phone, switch on USB debugging in its developer options and plug it in.</source>
        <translation>要使用手机，请在其开发者选项中打开 USB 调试，然后插上数据线。</translation>
    </message>
    <message>
        <source>Add a virtual phone</source>
        <translation>添加虚拟手机</translation>
    </message>
    <message>
        <source>Simulated numbers: this is a virtual phone, not hardware.</source>
        <translation>模拟数据：这是虚拟手机，不是真实硬件。</translation>
    </message>
    <message>
        <source>Looking for devices…</source>
        <translation>正在查找设备…</translation>
    </message>
    <message>
        <source>Open a model to run it here and watch latency, temperature, clocks and memory.</source>
        <translation>打开一个模型，在这里运行并观察延迟、温度、频率和内存。</translation>
    </message>
    <message>
        <source>Press Deploy &amp; run: the artifact is measured on this device, and latency, temperature, clocks and memory are drawn here as they come.</source>
        <translation>点击“部署并运行”：在该设备上测量产物，延迟、温度、频率和内存会实时绘制在这里。</translation>
    </message>
</context>
<context>
    <name>Docks</name>
    <message>
        <source>Recipe</source>
        <translation>配方</translation>
    </message>
    <message>
        <source>Node</source>
        <translation>节点</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Devices and log</source>
        <translation>设备与日志</translation>
    </message>
</context>
<context>
    <name>EditDialog</name>
    <message>
        <source>This becomes a step of the recipe; undo takes it back.</source>
        <translation>这会成为配方的一个步骤；可以撤销。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
    <message>
        <source>Rename the node</source>
        <translation>重命名节点</translation>
    </message>
    <message>
        <source>Rename the tensor</source>
        <translation>重命名张量</translation>
    </message>
    <message>
        <source>Set an attribute</source>
        <translation>设置属性</translation>
    </message>
    <message>
        <source>Cut out as a model of its own</source>
        <translation>剪切为独立模型</translation>
    </message>
    <message>
        <source>Keeps only what lies between these tensors; separate several by commas.</source>
        <translation>只保留这些张量之间的部分；多个用逗号分隔。</translation>
    </message>
    <message>
        <source>Fix sizes of dims</source>
        <translation>固定维度大小</translation>
    </message>
    <message>
        <source>Many accelerators only take models whose sizes are all fixed.</source>
        <translation>许多加速器只接受大小全部固定的模型。</translation>
    </message>
</context>
<context>
    <name>ExportPage</name>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Turns the torch model into an ONNX graph, which all later steps read.</source>
        <translation>把 torch 模型转成 ONNX 图，供后续步骤使用。</translation>
    </message>
    <message>
        <source>&amp;Run export</source>
        <translation>运行导出(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Opset</source>
        <translation>Opset(&amp;O)</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>dynamo (torch.export)</source>
        <translation>dynamo (torch.export)</translation>
    </message>
    <message>
        <source>TorchScript (tracing)</source>
        <translation>TorchScript（跟踪）</translation>
    </message>
    <message>
        <source>&amp;Exporter</source>
        <translation>导出器(&amp;E)</translation>
    </message>
    <message>
        <source>Any batch si&amp;ze</source>
        <translation>任意批大小(&amp;Z)</translation>
    </message>
    <message>
        <source>The source is ONNX already: there is nothing to export.</source>
        <translation>源模型已是 ONNX：无需导出。</translation>
    </message>
    <message>
        <source>Its opset is {n}.</source>
        <translation>其 opset 为 {n}。</translation>
    </message>
    <message>
        <source>The version of ONNX operators. 18 suits every runtime that is looked after today.</source>
        <translation>ONNX 算子的版本。18 适合目前仍在维护的所有运行时。</translation>
    </message>
    <message>
        <source>Below 18 the TorchScript exporter is used, for older runtimes and vendor tools.</source>
        <translation>低于 18 时使用 TorchScript 导出器，供旧运行时和厂商工具使用。</translation>
    </message>
    <message>
        <source>dynamo first; where it fails, TorchScript. What worked is noted.</source>
        <translation>先用 dynamo；失败则用 TorchScript。会注明实际使用的。</translation>
    </message>
    <message>
        <source>Keeps control flow and names of modules; opset 18 or newer.</source>
        <translation>保留控制流和模块名；opset 18 或更新。</translation>
    </message>
    <message>
        <source>Follows one example: branches on values are lost.</source>
        <translation>只跟随一个示例：依赖数值的分支会丢失。</translation>
    </message>
    <message>
        <source>The first dimension stays free. Phones&apos; accelerators want it fixed.</source>
        <translation>第一维保持自由。手机加速器要求固定。</translation>
    </message>
    <message>
        <source>The shape is fixed as the source declares it, which every accelerator takes.</source>
        <translation>形状按源模型的声明固定，所有加速器都接受。</translation>
    </message>
    <message>
        <source>The dynamo exporter makes opset 18 at least: choose Automatic or a newer opset.</source>
        <translation>dynamo 导出器至少生成 opset 18：请选择“自动”或更新的 opset。</translation>
    </message>
    <message>
        <source>The project does not say which inputs the source takes: name, type and shape.</source>
        <translation>项目没有说明源模型的输入：名称、类型和形状。</translation>
    </message>
    <message>
        <source>Change export</source>
        <translation>更改导出</translation>
    </message>
</context>
<context>
    <name>FileCommands</name>
    <message>
        <source>Models and projects</source>
        <translation>模型和项目</translation>
    </message>
    <message>
        <source>All files</source>
        <translation>所有文件</translation>
    </message>
    <message>
        <source>Models that Netron shows</source>
        <translation>Netron 能显示的模型</translation>
    </message>
    <message>
        <source>Open a model or a project</source>
        <translation>打开模型或项目</translation>
    </message>
    <message>
        <source>Open beside</source>
        <translation>并排打开</translation>
    </message>
    <message>
        <source>ETRecords</source>
        <translation>ETRecord 文件</translation>
    </message>
    <message>
        <source>Open the ETRecord of {file}</source>
        <translation>打开 {file} 的 ETRecord</translation>
    </message>
    <message>
        <source>Open in Netron</source>
        <translation>用 Netron 打开</translation>
    </message>
    <message>
        <source>Save the project</source>
        <translation>保存项目</translation>
    </message>
    <message>
        <source>Projects</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>Write report</source>
        <translation>生成报告</translation>
    </message>
</context>
<context>
    <name>FixDialog</name>
    <message>
        <source>Apply a fix</source>
        <translation>应用修复</translation>
    </message>
    <message>
        <source>In Python{where}: {advice}</source>
        <translation>在 Python 中{where}：{advice}</translation>
    </message>
    <message>
        <source>sizes that the model runs with are found</source>
        <translation>自动查找模型可运行的尺寸</translation>
    </message>
    <message>
        <source>Dims</source>
        <translation>维度</translation>
    </message>
    <message>
        <source>Its dims: {names}. In a file of its own each: N=1,4</source>
        <translation>模型的维度：{names}。多个取值各生成一个文件：N=1,4</translation>
    </message>
    <message>
        <source>Old and new model are run on the same inputs; when their outputs differ, the fix is refused.</source>
        <translation>新旧模型会在相同输入上运行；如果输出不同，就拒绝此修复。</translation>
    </message>
    <message>
        <source>Use as the new source</source>
        <translation>作为新的源模型</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Apply to a file…</source>
        <translation>应用到文件…</translation>
    </message>
    <message>
        <source>Add to the recipe</source>
        <translation>加入配方</translation>
    </message>
    <message>
        <source>Fixes rewrite ONNX files: export the model first, then open that stage.</source>
        <translation>修复会改写 ONNX 文件：请先导出模型，再打开该阶段。</translation>
    </message>
    <message>
        <source>As a step it takes its ranges from the calibration data, and is proven then.</source>
        <translation>作为步骤运行时，取值范围来自校准数据，届时再作证明。</translation>
    </message>
    <message>
        <source>Fix: {title}</source>
        <translation>修复：{title}</translation>
    </message>
    <message>
        <source>Write the fixed model to</source>
        <translation>将修复后的模型写入</translation>
    </message>
    <message>
        <source>Nodes changed: {n}; largest difference {error} of the range, {allowed} allowed.</source>
        <translation>改动了 {n} 个节点；最大差异为取值范围的 {error}，允许 {allowed}。</translation>
    </message>
    <message>
        <source>{before} → {after} nodes not taken</source>
        <translation>未被接受的节点 {before} → {after}</translation>
    </message>
    <message>
        <source>{before} → {after} partitions</source>
        <translation>分区 {before} → {after}</translation>
    </message>
</context>
<context>
    <name>FocusStrip</name>
    <message>
        <source>Fade nodes below this figure</source>
        <translation>淡化低于此值的节点</translation>
    </message>
    <message>
        <source>Fade below</source>
        <translation>淡化低于</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>全部显示</translation>
    </message>
    <message>
        <source>{limit} · {shown} of {total} nodes</source>
        <translation>{limit} · {total} 个节点中的 {shown} 个</translation>
    </message>
</context>
<context>
    <name>FormatCard</name>
    <message>
        <source>The graph before delegation, beside the .pte, with all weights: as large again.</source>
        <translation>委托之前的计算图，存放在 .pte 旁边，含全部权重：大小与 .pte 相当。</translation>
    </message>
</context>
<context>
    <name>FreezeDialog</name>
    <message>
        <source>leave open</source>
        <translation>保持未定</translation>
    </message>
    <message>
        <source>Every size of this model&apos;s inputs is fixed already.</source>
        <translation>此模型输入的大小均已固定。</translation>
    </message>
</context>
<context>
    <name>GraphCanvas</name>
    <message>
        <source>Click to go to the other end.</source>
        <translation>点击前往另一端。</translation>
    </message>
    <message>
        <source>Graph</source>
        <translation>图</translation>
    </message>
    <message>
        <source>Nothing is selected.</source>
        <translation>没有选中任何内容。</translation>
    </message>
</context>
<context>
    <name>GraphMenu</name>
    <message>
        <source>Go to</source>
        <translation>前往</translation>
    </message>
    <message>
        <source>Compare with one of {n} alike</source>
        <translation>与 {n} 个相同块之一比较</translation>
    </message>
    <message>
        <source>Compare with the one alike</source>
        <translation>与另一个相同的块比较</translation>
    </message>
    <message>
        <source>Go to what it reads</source>
        <translation>前往其输入</translation>
    </message>
    <message>
        <source>Go to what reads it</source>
        <translation>前往其使用者</translation>
    </message>
</context>
<context>
    <name>GraphSummary</name>
    <message>
        <source>Select a node to see what every target does with it, and why.</source>
        <translation>选择一个节点，查看每个目标如何处理它以及原因。</translation>
    </message>
    <message>
        <source>… and {n} more notes in the log</source>
        <translation>……日志中还有 {n} 条说明</translation>
    </message>
    <message>
        <source>unknown: symbolic shapes</source>
        <translation>未知：形状含符号</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Made by</source>
        <translation>生成工具</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>节点数</translation>
    </message>
    <message>
        <source>MACs</source>
        <translation>MAC</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Peak activations</source>
        <translation>激活峰值</translation>
    </message>
    <message>
        <source>Assumed</source>
        <translation>假定</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>… {n} in all</source>
        <translation>……共 {n} 个</translation>
    </message>
</context>
<context>
    <name>GraphTools</name>
    <message>
        <source>Bookmark {name}</source>
        <translation>书签 {name}</translation>
    </message>
    <message>
        <source>Bookmark added: {name}</source>
        <translation>已添加书签：{name}</translation>
    </message>
    <message>
        <source>Nothing yet</source>
        <translation>暂无</translation>
    </message>
    <message>
        <source>The stage of this bookmark is not there.</source>
        <translation>此书签所在的阶段不存在。</translation>
    </message>
    <message>
        <source>Run the recipe first.</source>
        <translation>请先运行配方。</translation>
    </message>
    <message>
        <source>There is no node {node} in this graph any more.</source>
        <translation>此图中已没有节点 {node}。</translation>
    </message>
    <message>
        <source>Delete the bookmark, or undo what changed the model.</source>
        <translation>请删除书签，或撤销对模型的改动。</translation>
    </message>
    <message>
        <source>The path starts at {node}: select its other end, then “Show the path to here”</source>
        <translation>路径从 {node} 开始：请选择另一端，然后选“显示到此处的路径”</translation>
    </message>
    <message>
        <source>Select a node and choose “Start a path here” first.</source>
        <translation>请先选择节点并选“从此处开始路径”。</translation>
    </message>
    <message>
        <source>No path leads from {start} to {end}, nor back.</source>
        <translation>{start} 与 {end} 之间没有路径。</translation>
    </message>
    <message>
        <source>{n} nodes on the paths between {start} and {end}</source>
        <translation>{start} 与 {end} 之间的路径上有 {n} 个节点</translation>
    </message>
    <message>
        <source>No other block is built like this one: choose one that says ×2 or more.</source>
        <translation>没有其他块与此块结构相同：请选择标有 ×2 或更多的块。</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Set an attribute</source>
        <translation>设置属性</translation>
    </message>
    <message>
        <source>Remove {node}</source>
        <translation>移除 {node}</translation>
    </message>
    <message>
        <source>Cut out</source>
        <translation>剪切</translation>
    </message>
    <message>
        <source>Fix sizes of dims</source>
        <translation>固定维度大小</translation>
    </message>
    <message>
        <source>Save the table of nodes</source>
        <translation>保存节点表</translation>
    </message>
</context>
<context>
    <name>GraphView</name>
    <message>
        <source>nothing</source>
        <translation>没有结果</translation>
    </message>
    <message>
        <source>{n} found</source>
        <translation>找到 {n} 个</translation>
    </message>
    <message>
        <source>The nodes are being timed…</source>
        <translation>正在为节点计时…</translation>
    </message>
    <message>
        <source>The nodes of this kind of file cannot be timed on this computer.</source>
        <translation>这台电脑无法为这种文件的节点计时。</translation>
    </message>
    <message>
        <source>Profile on This computer</source>
        <translation>在这台电脑上剖析</translation>
    </message>
    <message>
        <source>Profile on {device}</source>
        <translation>在 {device} 上剖析</translation>
    </message>
    <message>
        <source>This file was not profiled yet.</source>
        <translation>此文件尚未剖析。</translation>
    </message>
    <message>
        <source>Time the nodes again.</source>
        <translation>重新为节点计时。</translation>
    </message>
    <message>
        <source>The layers are being compared…</source>
        <translation>正在逐层比较…</translation>
    </message>
    <message>
        <source>This kind of file does not show its inner results: compare the file it was made from.</source>
        <translation>这种文件不给出中间结果：请比较生成它的文件。</translation>
    </message>
    <message>
        <source>Nothing to compare with: the error of layers needs a second .onnx or .tflite file.</source>
        <translation>没有可比较的文件：逐层误差需要另一个 .onnx 或 .tflite 文件。</translation>
    </message>
    <message>
        <source>Open beside…</source>
        <translation>并排打开…</translation>
    </message>
    <message>
        <source>Compare with {stage}</source>
        <translation>与 {stage} 比较</translation>
    </message>
    <message>
        <source>Compare the layers of this file, on the project&apos;s data where it names some.</source>
        <translation>逐层比较此文件；项目指定了数据时使用该数据。</translation>
    </message>
    <message>
        <source>Only what the search finds is at full strength</source>
        <translation>只有搜索结果保持原色</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Back to the last place</source>
        <translation>回到上一处</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>前进</translation>
    </message>
    <message>
        <source>Search: Conv, op:Resize, MatMul → * → Softmax</source>
        <translation>搜索：Conv、op:Resize、MatMul → * → Softmax</translation>
    </message>
    <message>
        <source>Search the graph</source>
        <translation>搜索图</translation>
    </message>
    <message>
        <source>Fade what the search does not find</source>
        <translation>淡化未找到的内容</translation>
    </message>
    <message>
        <source>Show the whole graph (0)</source>
        <translation>显示整个图 (0)</translation>
    </message>
</context>
<context>
    <name>HelpWindow</name>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>页面</translation>
    </message>
</context>
<context>
    <name>Histogram</name>
    <message>
        <source>Histogram</source>
        <translation>直方图</translation>
    </message>
    <message>
        <source>height ∝ √count</source>
        <translation>高度 ∝ √数量</translation>
    </message>
</context>
<context>
    <name>JobBar</name>
    <message>
        <source>cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Cancel the job</source>
        <translation>取消任务</translation>
    </message>
    <message>
        <source>log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source> · {n} waiting</source>
        <translation> · {n} 个等待中</translation>
    </message>
    <message>
        <source>stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>not saved</source>
        <translation>未保存</translation>
    </message>
    <message>
        <source>unsaved changes</source>
        <translation>有未保存的更改</translation>
    </message>
    <message>
        <source>saved</source>
        <translation>已保存</translation>
    </message>
    <message>
        <source>1 job done</source>
        <translation>已完成 1 个任务</translation>
    </message>
    <message>
        <source>{n} jobs done</source>
        <translation>已完成 {n} 个任务</translation>
    </message>
</context>
<context>
    <name>LiveView</name>
    <message>
        <source>Latency</source>
        <translation>延迟</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>CPU clocks</source>
        <translation>CPU 频率</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>功耗</translation>
    </message>
    <message>
        <source>No inference was made.</source>
        <translation>没有进行任何推理。</translation>
    </message>
    <message>
        <source>Waiting for the first inference…</source>
        <translation>等待第一次推理…</translation>
    </message>
    <message>
        <source>Not readable here: {reason}</source>
        <translation>此处无法读取：{reason}</translation>
    </message>
    <message>
        <source>Nothing sampled yet</source>
        <translation>尚无采样</translation>
    </message>
    <message>
        <source>Nothing was sampled</source>
        <translation>没有采样</translation>
    </message>
    <message>
        <source>This runner tells phases, not single inferences:</source>
        <translation>此运行器只报告阶段，不报告单次推理：</translation>
    </message>
    <message>
        <source>{name}: mean {mean} ms, {low} to {high} ms, n {n}</source>
        <translation>{name}：平均 {mean} ms，{low} 至 {high} ms，n {n}</translation>
    </message>
    <message>
        <source>throttling</source>
        <translation>降频</translation>
    </message>
    <message>
        <source>throttling over</source>
        <translation>降频结束</translation>
    </message>
    <message>
        <source>link lost</source>
        <translation>连接断开</translation>
    </message>
    <message>
        <source>link back</source>
        <translation>连接恢复</translation>
    </message>
    <message>
        <source>error</source>
        <translation>错误</translation>
    </message>
</context>
<context>
    <name>LogPanel</name>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>What jobs and tools say appears here.</source>
        <translation>任务和工具的输出显示在这里。</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>全部复制</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>清空</translation>
    </message>
    <message>
        <source>done</source>
        <translation>完成</translation>
    </message>
</context>
<context>
    <name>MatrixTable</name>
    <message>
        <source>Operator</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>节点数</translation>
    </message>
</context>
<context>
    <name>MatrixView</name>
    <message>
        <source>Operators against targets</source>
        <translation>算子与目标对照</translation>
    </message>
    <message>
        <source>Open a graph and choose targets to compare them here.</source>
        <translation>打开一个图并选择目标，即可在此比较。</translation>
    </message>
</context>
<context>
    <name>MeasuredPanel</name>
    <message>
        <source>Measure again</source>
        <translation>重新测量</translation>
    </message>
    <message>
        <source>The worst nodes</source>
        <translation>最差的节点</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>{p50} with the profiler on</source>
        <translation>开启剖析器时 {p50}</translation>
    </message>
    <message>
        <source>One inference {p50} · {total} in kernels while profiled, {share} of it by node</source>
        <translation>单次推理 {p50} · 剖析时内核用时 {total}，其中 {share} 可归到节点</translation>
    </message>
    <message>
        <source>1 thread</source>
        <translation>1 线程</translation>
    </message>
    <message>
        <source>{n} threads</source>
        <translation>{n} 线程</translation>
    </message>
    <message>
        <source>{n} inferences</source>
        <translation>{n} 次推理</translation>
    </message>
    <message>
        <source>inside</source>
        <translation>在内部</translation>
    </message>
    <message>
        <source>fused with {n}</source>
        <translation>与 {n} 个融合</translation>
    </message>
    <message>
        <source>no node</source>
        <translation>无节点</translation>
    </message>
    <message>
        <source>Node</source>
        <translation>节点</translation>
    </message>
    <message>
        <source>Operator</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>占比</translation>
    </message>
    <message>
        <source>Remark</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Slowest nodes</source>
        <translation>最慢的节点</translation>
    </message>
    <message>
        <source>{device} (simulated)</source>
        <translation>{device}（模拟）</translation>
    </message>
    <message>
        <source>Worst layer: SQNR {sqnr} · {n} layers compared</source>
        <translation>最差层：SQNR {sqnr} · 已比较 {n} 层</translation>
    </message>
    <message>
        <source>No layer could be compared.</source>
        <translation>没有可比较的层。</translation>
    </message>
    <message>
        <source>{made} against {original}</source>
        <translation>{made} 对比 {original}</translation>
    </message>
    <message>
        <source>made-up inputs, real data tells more: {inputs}</source>
        <translation>编造的输入，真实数据更可信：{inputs}</translation>
    </message>
    <message>
        <source>{n} samples</source>
        <translation>{n} 个样本</translation>
    </message>
    <message>
        <source>{n} without a counterpart</source>
        <translation>{n} 层没有对应层</translation>
    </message>
    <message>
        <source>{n} of another size or scale</source>
        <translation>{n} 层大小或比例不同</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>误差</translation>
    </message>
    <message>
        <source>Cosine</source>
        <translation>余弦</translation>
    </message>
    <message>
        <source>Mean error</source>
        <translation>平均误差</translation>
    </message>
    <message>
        <source>Largest</source>
        <translation>最大误差</translation>
    </message>
    <message>
        <source>Worst layers</source>
        <translation>最差的层</translation>
    </message>
</context>
<context>
    <name>MemoryCurve</name>
    <message>
        <source>Activation memory over time</source>
        <translation>激活内存随时间变化</translation>
    </message>
    <message>
        <source>The memory of this graph is not known.</source>
        <translation>此图的内存未知。</translation>
    </message>
    <message>
        <source>Activation memory in file order · peak {bytes} at {node}</source>
        <translation>按文件顺序的激活内存 · 峰值 {bytes} 位于 {node}</translation>
    </message>
</context>
<context>
    <name>Menus</name>
    <message>
        <source>Open &amp;recent</source>
        <translation>最近打开(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Go to bookmark</source>
        <translation>前往书签(&amp;G)</translation>
    </message>
    <message>
        <source>Pan&amp;els</source>
        <translation>面板(&amp;E)</translation>
    </message>
    <message>
        <source>Nothing yet</source>
        <translation>暂无</translation>
    </message>
</context>
<context>
    <name>MessagePage</name>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
</context>
<context>
    <name>NodePages</name>
    <message>
        <source>default</source>
        <translation>默认值</translation>
    </message>
    <message>
        <source>This operator has no attributes.</source>
        <translation>该算子没有属性。</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>层</translation>
    </message>
    <message>
        <source>Activation</source>
        <translation>激活</translation>
    </message>
    <message>
        <source>Pool</source>
        <translation>池化</translation>
    </message>
    <message>
        <source>Tensor</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>Transform</source>
        <translation>变换</translation>
    </message>
    <message>
        <source>Normalization</source>
        <translation>归一化</translation>
    </message>
    <message>
        <source>Quantization</source>
        <translation>量化</translation>
    </message>
    <message>
        <source>Shape</source>
        <translation>形状</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>Dropout</source>
        <translation>随机失活</translation>
    </message>
    <message>
        <source>Constant</source>
        <translation>常量</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Inputs</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>Outputs</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>values</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>Statistics, histogram and export of this constant</source>
        <translation>此常量的统计、直方图和导出</translation>
    </message>
    <message>
        <source>constant</source>
        <translation>常量</translation>
    </message>
    <message>
        <source>Nothing is known here about {op}: it is no standard operator.</source>
        <translation>对 {op} 一无所知：它不是标准算子。</translation>
    </message>
    <message>
        <source>Category: {category}</source>
        <translation>类别：{category}</translation>
    </message>
    <message>
        <source>There is no description.</source>
        <translation>没有说明。</translation>
    </message>
</context>
<context>
    <name>NodePanel</name>
    <message>
        <source>Copy the node as text</source>
        <translation>将节点复制为文本</translation>
    </message>
    <message>
        <source>Pages of the node</source>
        <translation>节点的各页</translation>
    </message>
    <message>
        <source>Verdicts</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>Attributes</source>
        <translation>属性</translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>About</source>
        <translation>说明</translation>
    </message>
</context>
<context>
    <name>PartitionRows</name>
    <message>
        <source>1 partition</source>
        <translation>1 个分区</translation>
    </message>
    <message>
        <source>{n} partitions</source>
        <translation>{n} 个分区</translation>
    </message>
    <message>
        <source>1 node</source>
        <translation>1 个节点</translation>
    </message>
    <message>
        <source>{n} nodes</source>
        <translation>{n} 个节点</translation>
    </message>
    <message>
        <source>MACs unknown</source>
        <translation>MACs 未知</translation>
    </message>
    <message>
        <source>partition {number} of {count}</source>
        <translation>第 {number} 个分区，共 {count} 个</translation>
    </message>
    <message>
        <source>… and {n} smaller</source>
        <translation>……另有 {n} 个更小的分区</translation>
    </message>
    <message>
        <source>{weights} weights, {inside} in, {outside} out</source>
        <translation>权重 {weights}，流入 {inside}，流出 {outside}</translation>
    </message>
    <message>
        <source>Layout: about {n} transposes expected around the partitions ({size})</source>
        <translation>布局：预计分区周围约有 {n} 次转置（{size}）</translation>
    </message>
    <message>
        <source>Layout: transposes in the graph: {n} ({size})</source>
        <translation>布局：图中的转置 {n} 个（{size}）</translation>
    </message>
    <message>
        <source>about {n} more expected around the partitions ({size})</source>
        <translation>预计分区周围还会增加约 {n} 个（{size}）</translation>
    </message>
    <message>
        <source>a size that is not known</source>
        <translation>未知大小的数据</translation>
    </message>
    <message>
        <source>Layout tax: this node only moves {size}.</source>
        <translation>布局开销：此节点只搬运 {size}。</translation>
    </message>
    <message>
        <source>Layout tax: transposes expected here, where layouts meet: about {n}.</source>
        <translation>布局开销：两种布局在此相接，预计转置约 {n} 次。</translation>
    </message>
</context>
<context>
    <name>PictureDialog</name>
    <message>
        <source>Save picture</source>
        <translation>保存图片</translation>
    </message>
    <message>
        <source>the whole graph</source>
        <translation>整个图</translation>
    </message>
    <message>
        <source>what is in sight</source>
        <translation>可见部分</translation>
    </message>
    <message>
        <source>Part</source>
        <translation>范围</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>保存…</translation>
    </message>
</context>
<context>
    <name>PreprocessingField</name>
    <message>
        <source>Change…</source>
        <translation>更改…</translation>
    </message>
    <message>
        <source>Height</source>
        <translation>高</translation>
    </message>
    <message>
        <source>Width</source>
        <translation>宽</translation>
    </message>
    <message>
        <source>as it is</source>
        <translation>保持原样</translation>
    </message>
    <message>
        <source>Height × width</source>
        <translation>高 × 宽</translation>
    </message>
    <message>
        <source>grey</source>
        <translation>灰度</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>Standard deviation</source>
        <translation>标准差</translation>
    </message>
    <message>
        <source>one number, or one per channel: 0.485 0.456 0.406</source>
        <translation>一个数，或每通道一个：0.485 0.456 0.406</translation>
    </message>
    <message>
        <source>Layout</source>
        <translation>布局</translation>
    </message>
    <message>
        <source>size as it is</source>
        <translation>大小保持原样</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>std</source>
        <translation>标准差</translation>
    </message>
    <message>
        <source>Mean and standard deviation want one number, or one per channel.</source>
        <translation>均值和标准差需要一个数，或每通道一个。</translation>
    </message>
    <message>
        <source>A standard deviation of 0 divides by zero.</source>
        <translation>标准差为 0 会除以零。</translation>
    </message>
    <message>
        <source>Set height and width together, or neither.</source>
        <translation>高和宽须同时设置，或都不设置。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>ProblemList</name>
    <message>
        <source>{now} → {then} partitions</source>
        <translation>分区 {now} → {then}</translation>
    </message>
    <message>
        <source>{share} % of MACs</source>
        <translation>占 MAC {share} %</translation>
    </message>
    <message>
        <source>1 node</source>
        <translation>1 个节点</translation>
    </message>
    <message>
        <source>{n} nodes</source>
        <translation>{n} 个节点</translation>
    </message>
</context>
<context>
    <name>ProblemPanel</name>
    <message>
        <source>Problems</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Problems of which target</source>
        <translation>哪个目标的问题</translation>
    </message>
    <message>
        <source>Order of the problems</source>
        <translation>问题的排序</translation>
    </message>
    <message>
        <source>by cost</source>
        <translation>按代价</translation>
    </message>
    <message>
        <source>by verdict</source>
        <translation>按判定</translation>
    </message>
    <message>
        <source>by operator</source>
        <translation>按算子</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Fix…</source>
        <translation>修复…</translation>
    </message>
    <message>
        <source>Copy the listed problems as Markdown</source>
        <translation>将列出的问题复制为 Markdown</translation>
    </message>
    <message>
        <source>All targets</source>
        <translation>所有目标</translation>
    </message>
    <message>
        <source>Choose a problem that has a fix</source>
        <translation>请选择一个有修复办法的问题</translation>
    </message>
    <message>
        <source>Open a model to see what its targets do not take, why, and what helps.</source>
        <translation>打开一个模型，查看各目标不接受什么、原因以及解决办法。</translation>
    </message>
    <message>
        <source>The graph is not open yet.</source>
        <translation>图尚未打开。</translation>
    </message>
    <message>
        <source>This file holds weights only: there is nothing to judge.</source>
        <translation>此文件只有权重：没有可判断的内容。</translation>
    </message>
    <message>
        <source>Choose targets above to see what they do not take.</source>
        <translation>在上方选择目标，查看它们不接受什么。</translation>
    </message>
    <message>
        <source>This graph was not judged; the log says why.</source>
        <translation>该图未被判定；原因见日志。</translation>
    </message>
    <message>
        <source>Nothing here: every node runs where it was asked to.</source>
        <translation>没有问题：每个节点都在要求的地方运行。</translation>
    </message>
</context>
<context>
    <name>PythonSourceDialog</name>
    <message>
        <source>Python source</source>
        <translation>Python 源码</translation>
    </message>
    <message>
        <source>&amp;Function</source>
        <translation>函数(&amp;F)</translation>
    </message>
    <message>
        <source>Takes no arguments and returns a torch.nn.Module.</source>
        <translation>不带参数，返回 torch.nn.Module。</translation>
    </message>
    <message>
        <source>&amp;Weights</source>
        <translation>权重(&amp;W)</translation>
    </message>
    <message>
        <source>State dict in the same folder; empty: the function loads it.</source>
        <translation>同一文件夹中的 state dict；留空表示由函数自行加载。</translation>
    </message>
    <message>
        <source>&amp;Inputs</source>
        <translation>输入(&amp;I)</translation>
    </message>
    <message>
        <source>One per line: name, type, shape.</source>
        <translation>每行一个：名称、类型、形状。</translation>
    </message>
</context>
<context>
    <name>QuantizePage</name>
    <message>
        <source>Quantize</source>
        <translation>量化</translation>
    </message>
    <message>
        <source>Fewer bits: a smaller file and, where the hardware computes in them, a faster one.</source>
        <translation>位数更少：文件更小；若硬件支持，速度也更快。</translation>
    </message>
    <message>
        <source>&amp;Run quantize</source>
        <translation>运行量化(&amp;R)</translation>
    </message>
    <message>
        <source>Leave it in &amp;float</source>
        <translation>保持浮点(&amp;F)</translation>
    </message>
    <message>
        <source>Nothing is lost and nothing is gained.</source>
        <translation>没有损失，也没有收益。</translation>
    </message>
    <message>
        <source>int8, &amp;static</source>
        <translation>int8，静态(&amp;S)</translation>
    </message>
    <message>
        <source>Weights and activations in 8 bits, with ranges learned from real inputs.</source>
        <translation>权重和激活均为 8 位，范围由真实输入得出。</translation>
    </message>
    <message>
        <source>int8, &amp;dynamic</source>
        <translation>int8，动态(&amp;D)</translation>
    </message>
    <message>
        <source>Weights in 8 bits, ranges found while it runs: needs no data, suits transformers.</source>
        <translation>权重为 8 位，范围在运行时确定：无需数据，适合 Transformer。</translation>
    </message>
    <message>
        <source>float&amp;16</source>
        <translation>float&amp;16</translation>
    </message>
    <message>
        <source>Half the size, nearly the same numbers; needs no data.</source>
        <translation>大小减半，数值几乎不变；无需数据。</translation>
    </message>
    <message>
        <source>Calibration data</source>
        <translation>校准数据</translation>
    </message>
    <message>
        <source>&amp;Calibrate on</source>
        <translation>校准数据(&amp;C)</translation>
    </message>
    <message>
        <source>Preprocessing</source>
        <translation>预处理</translation>
    </message>
    <message>
        <source>S&amp;amples</source>
        <translation>样本数(&amp;A)</translation>
    </message>
    <message>
        <source>Smallest and largest value</source>
        <translation>最小值和最大值</translation>
    </message>
    <message>
        <source>Entropy: rare large values are cut off</source>
        <translation>熵：截断罕见的大值</translation>
    </message>
    <message>
        <source>Percentile 99.999</source>
        <translation>百分位 99.999</translation>
    </message>
    <message>
        <source>Ran&amp;ges</source>
        <translation>范围(&amp;G)</translation>
    </message>
    <message>
        <source>One scale per c&amp;hannel</source>
        <translation>逐通道 scale(&amp;H)</translation>
    </message>
    <message>
        <source>names of nodes, with commas; usually none</source>
        <translation>节点名，用逗号分隔；通常留空</translation>
    </message>
    <message>
        <source>&amp;Keep in float</source>
        <translation>保持浮点(&amp;K)</translation>
    </message>
    <message>
        <source>Static int8 learns its ranges from real inputs: name a folder of pictures or an array file.</source>
        <translation>静态 int8 从真实输入得出范围：请指定图片文件夹或数组文件。</translation>
    </message>
    <message>
        <source>Change quantize</source>
        <translation>更改量化</translation>
    </message>
</context>
<context>
    <name>RecipePanel</name>
    <message>
        <source>The steps appear here with a model: export, quantize, convert, verify, deploy.</source>
        <translation>打开模型后，这里会列出步骤：导出、量化、转换、验证、部署。</translation>
    </message>
    <message>
        <source>So far</source>
        <translation>目前</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>over budget</source>
        <translation>超出预算</translation>
    </message>
    <message>
        <source>made in {time}</source>
        <translation>用时 {time}</translation>
    </message>
    <message>
        <source>good</source>
        <translation>良好</translation>
    </message>
    <message>
        <source>equal</source>
        <translation>完全相同</translation>
    </message>
    <message>
        <source>running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>Deploy</source>
        <translation>部署</translation>
    </message>
</context>
<context>
    <name>RecoveryDialog</name>
    <message>
        <source>Restore unsaved work</source>
        <translation>恢复未保存的工作</translation>
    </message>
    <message>
        <source>The studio ended before this was saved</source>
        <translation>程序在保存之前结束了</translation>
    </message>
    <message>
        <source>Unsaved projects</source>
        <translation>未保存的项目</translation>
    </message>
    <message>
        <source>Give all up</source>
        <translation>全部放弃</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>以后再说</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>恢复</translation>
    </message>
</context>
<context>
    <name>RenameDialog</name>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
</context>
<context>
    <name>RunBar</name>
    <message>
        <source>Artifact</source>
        <translation>产物</translation>
    </message>
    <message>
        <source>Target</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程数</translation>
    </message>
    <message>
        <source>How many threads the runtime may use</source>
        <translation>运行时可使用的线程数</translation>
    </message>
    <message>
        <source>Mode</source>
        <translation>模式</translation>
    </message>
    <message>
        <source>burst</source>
        <translation>突发</translation>
    </message>
    <message>
        <source>As fast as it goes, for a few seconds</source>
        <translation>全速运行几秒钟</translation>
    </message>
    <message>
        <source>sustained</source>
        <translation>持续</translation>
    </message>
    <message>
        <source>For minutes, to see it grow hot and slow</source>
        <translation>持续数分钟，观察发热与降速</translation>
    </message>
    <message>
        <source>cadence</source>
        <translation>定频</translation>
    </message>
    <message>
        <source>At a fixed rate with idle gaps, as an app does</source>
        <translation>像应用那样以固定频率运行并留有空闲</translation>
    </message>
    <message>
        <source>Seconds</source>
        <translation>秒数</translation>
    </message>
    <message>
        <source>How long to measure at least</source>
        <translation>至少测量多久</translation>
    </message>
    <message>
        <source>Follow</source>
        <translation>跟随</translation>
    </message>
    <message>
        <source>Go with the newest moment again</source>
        <translation>重新跟随最新时刻</translation>
    </message>
    <message>
        <source>n {n}</source>
        <translation>n {n}</translation>
    </message>
    <message>
        <source>{drift} % since minute 1</source>
        <translation>自第 1 分钟起 {drift} %</translation>
    </message>
    <message>
        <source>thread</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop the run; what was measured is kept</source>
        <translation>停止运行；已测数据会保留</translation>
    </message>
    <message>
        <source>Deploy &amp;&amp; run</source>
        <translation>部署并运行</translation>
    </message>
    <message>
        <source>Choose a device first</source>
        <translation>请先选择设备</translation>
    </message>
    <message>
        <source>No runtime loads this file: there is nothing to deploy</source>
        <translation>没有运行时能加载此文件：没有可部署的内容</translation>
    </message>
    <message>
        <source>Open a model or run the recipe first: there is nothing to deploy yet</source>
        <translation>请先打开模型或运行配方：目前没有可部署的产物</translation>
    </message>
    <message>
        <source>This device has no runtime for this artifact</source>
        <translation>该设备没有适用于此产物的运行时</translation>
    </message>
    <message>
        <source>Push the artifact to the device and measure it live</source>
        <translation>将产物推送到设备并实时测量</translation>
    </message>
</context>
<context>
    <name>RunStrip</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>The choices changed since it was made: run it again.</source>
        <translation>设置在生成之后有改动：请重新运行。</translation>
    </message>
    <message>
        <source>Made; nothing has changed since.</source>
        <translation>已生成；此后没有改动。</translation>
    </message>
    <message>
        <source>Not made yet.</source>
        <translation>尚未生成。</translation>
    </message>
</context>
<context>
    <name>Session</name>
    <message>
        <source>Watch devices</source>
        <translation>监视设备</translation>
    </message>
    <message>
        <source>Run settings</source>
        <translation>运行设置</translation>
    </message>
    <message>
        <source>Run on {device}</source>
        <translation>在 {device} 上运行</translation>
    </message>
    <message>
        <source>Connect to {address}</source>
        <translation>连接到 {address}</translation>
    </message>
    <message>
        <source>Virtual phone</source>
        <translation>虚拟手机</translation>
    </message>
    <message>
        <source>Read operator documentation</source>
        <translation>读取算子文档</translation>
    </message>
    <message>
        <source>Read {tensor}</source>
        <translation>读取 {tensor}</translation>
    </message>
    <message>
        <source>Netron shows {file}</source>
        <translation>Netron 显示 {file}</translation>
    </message>
    <message>
        <source>{tool} answered for {n} nodes</source>
        <translation>{tool} 回答了 {n} 个节点</translation>
    </message>
    <message>
        <source>Ask the real tools</source>
        <translation>询问真实工具</translation>
    </message>
    <message>
        <source>No tool on this computer answers for this file and these targets.</source>
        <translation>这台电脑上没有工具能回答此文件和这些目标。</translation>
    </message>
    <message>
        <source>Run recipe</source>
        <translation>运行配方</translation>
    </message>
    <message>
        <source>Run {step}</source>
        <translation>运行 {step}</translation>
    </message>
    <message>
        <source>Look for artifacts</source>
        <translation>查找产物</translation>
    </message>
    <message>
        <source>Write report</source>
        <translation>生成报告</translation>
    </message>
    <message>
        <source>Read what runs measured of {file}</source>
        <translation>读取对 {file} 的实测结果</translation>
    </message>
    <message>
        <source>Profile {file}</source>
        <translation>剖析 {file}</translation>
    </message>
    <message>
        <source>Compare the layers of {file}</source>
        <translation>逐层比较 {file}</translation>
    </message>
</context>
<context>
    <name>SessionStages</name>
    <message>
        <source>Open {file}</source>
        <translation>打开 {file}</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>as the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>found on PATH, else the one of adbutils</source>
        <translation>在 PATH 中查找，否则使用 adbutils 自带的</translation>
    </message>
    <message>
        <source>one folder per line, e.g. of QAIRT, omg or ncc-tflite</source>
        <translation>每行一个文件夹，例如 QAIRT、omg 或 ncc-tflite 所在位置</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>主题(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Language</source>
        <translation>语言(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Editor</source>
        <translation>编辑器(&amp;E)</translation>
    </message>
    <message>
        <source>Opens the Python line of a node.</source>
        <translation>用于打开节点对应的 Python 代码行。</translation>
    </message>
    <message>
        <source>&amp;adb</source>
        <translation>&amp;adb</translation>
    </message>
    <message>
        <source>&amp;Vendor tools</source>
        <translation>厂商工具(&amp;V)</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <translation>添加文件夹…</translation>
    </message>
    <message>
        <source>Choose adb</source>
        <translation>选择 adb</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>Folder with vendor tools</source>
        <translation>厂商工具所在文件夹</translation>
    </message>
</context>
<context>
    <name>SoFar</name>
    <message>
        <source>Stop the recipe</source>
        <translation>停止配方</translation>
    </message>
    <message>
        <source>Deploy…</source>
        <translation>部署…</translation>
    </message>
    <message>
        <source>This file can be run as it is.</source>
        <translation>此文件可直接运行。</translation>
    </message>
    <message>
        <source>Continue wizard…</source>
        <translation>继续向导…</translation>
    </message>
    <message>
        <source>Start wizard…</source>
        <translation>启动向导…</translation>
    </message>
    <message>
        <source>Next: {step}</source>
        <translation>下一步：{step}</translation>
    </message>
    <message>
        <source>Next: measure it on a device</source>
        <translation>下一步：在设备上测量</translation>
    </message>
    <message>
        <source>Save project…</source>
        <translation>保存项目…</translation>
    </message>
    <message>
        <source>Next: share it with your team</source>
        <translation>下一步：与团队共享</translation>
    </message>
    <message>
        <source>Deploy again…</source>
        <translation>再次部署…</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>误差</translation>
    </message>
    <message>
        <source>none, equal</source>
        <translation>无，完全相同</translation>
    </message>
    <message>
        <source>SNR</source>
        <translation>SNR</translation>
    </message>
    <message>
        <source>(simulated)</source>
        <translation>（模拟）</translation>
    </message>
</context>
<context>
    <name>StageArea</name>
    <message>
        <source>Stages</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Matrix</source>
        <translation>矩阵</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Open in Netron</source>
        <translation>用 Netron 打开</translation>
    </message>
    <message>
        <source>The source is Python</source>
        <translation>源模型是 Python</translation>
    </message>
    <message>
        <source>Its graph appears once it is exported. Nothing of it runs before you trust it.</source>
        <translation>导出后即可看到它的图。在您信任它之前不会运行其中任何代码。</translation>
    </message>
    <message>
        <source>Export now</source>
        <translation>立即导出</translation>
    </message>
    <message>
        <source>Start wizard…</source>
        <translation>启动向导…</translation>
    </message>
    <message>
        <source>Opening {file}…</source>
        <translation>正在打开 {file}…</translation>
    </message>
    <message>
        <source>This step has not run yet</source>
        <translation>此步骤尚未运行</translation>
    </message>
    <message>
        <source>Run it to see what it makes.</source>
        <translation>运行它以查看结果。</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
</context>
<context>
    <name>StartPage</name>
    <message>
        <source>Take a model to the phone, and know what will happen there</source>
        <translation>把模型带到手机上，并清楚那里会发生什么</translation>
    </message>
    <message>
        <source>See which operators every accelerator takes and why not the others, quantize and convert, measure on real devices. Everything stays on this computer.</source>
        <translation>查看每个加速器接受哪些算子、为何不接受其余算子，量化并转换模型，在真实设备上测量。一切都留在这台电脑上。</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>最近</translation>
    </message>
    <message>
        <source>ONNX, PyTorch (.pt2, TorchScript, Python), TFLite, ExecuTorch, .ort, .studio</source>
        <translation>ONNX、PyTorch（.pt2、TorchScript、Python）、TFLite、ExecuTorch、.ort、.studio</translation>
    </message>
    <message>
        <source>Drop a model or a project here</source>
        <translation>将模型或项目拖放到这里</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>打开…</translation>
    </message>
    <message>
        <source>Try the sample</source>
        <translation>试用示例</translation>
    </message>
    <message>
        <source>Open {path}</source>
        <translation>打开 {path}</translation>
    </message>
</context>
<context>
    <name>StepPage</name>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Takes the choices that suit these targets</source>
        <translation>采用适合这些目标的设置</translation>
    </message>
    <message>
        <source>For all my targets</source>
        <translation>适合我的所有目标</translation>
    </message>
    <message>
        <source>My own choice</source>
        <translation>自定义</translation>
    </message>
</context>
<context>
    <name>TargetBar</name>
    <message>
        <source>MACs</source>
        <translation>MAC</translation>
    </message>
    <message>
        <source>Weight bytes</source>
        <translation>权重字节</translation>
    </message>
    <message>
        <source>Activation bytes</source>
        <translation>激活字节</translation>
    </message>
    <message>
        <source>Support</source>
        <translation>支持情况</translation>
    </message>
    <message>
        <source>Partitions</source>
        <translation>分区</translation>
    </message>
    <message>
        <source>Memory alive</source>
        <translation>存活内存</translation>
    </message>
    <message>
        <source>Quantisation</source>
        <translation>量化</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>延迟</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>误差</translation>
    </message>
    <message>
        <source>deprecated</source>
        <translation>已弃用</translation>
    </message>
    <message>
        <source>in maintenance</source>
        <translation>仅维护</translation>
    </message>
    <message>
        <source>Targets</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>Targets that do not fit here</source>
        <translation>此处放不下的目标</translation>
    </message>
    <message>
        <source>target</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>Add or remove targets</source>
        <translation>添加或移除目标</translation>
    </message>
    <message>
        <source>What the colours of the graph mean</source>
        <translation>图中颜色的含义</translation>
    </message>
    <message>
        <source>Depth</source>
        <translation>深度</translation>
    </message>
    <message>
        <source>How far scopes are opened</source>
        <translation>作用域展开的深度</translation>
    </message>
    <message>
        <source>Overlay: {name}</source>
        <translation>着色：{name}</translation>
    </message>
    <message>
        <source>Remove {target}</source>
        <translation>移除 {target}</translation>
    </message>
    <message>
        <source>Open scopes to depth {depth}</source>
        <translation>展开到第 {depth} 层</translation>
    </message>
    <message>
        <source>Open all scopes</source>
        <translation>展开所有作用域</translation>
    </message>
    <message>
        <source>{share} % of the MACs stay on the accelerator, in {n} partitions</source>
        <translation>{share} % 的 MAC 留在加速器上，共 {n} 个分区</translation>
    </message>
    <message>
        <source>{status}; the studio proposes {successor}</source>
        <translation>{status}；建议改用 {successor}</translation>
    </message>
</context>
<context>
    <name>TargetChip</name>
    <message>
        <source>{target}: {counts}</source>
        <translation>{target}：{counts}</translation>
    </message>
</context>
<context>
    <name>TargetDialog</name>
    <message>
        <source>Targets</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>SoC</source>
        <translation>SoC</translation>
    </message>
    <message>
        <source>Marked targets depend on the chip, e.g. SM8650; without it they stay unknown.</source>
        <translation>标注的目标取决于芯片，例如 SM8650；未指定时判定保持未知。</translation>
    </message>
    <message>
        <source>needs a SoC</source>
        <translation>需指定 SoC</translation>
    </message>
    <message>
        <source>prediction only</source>
        <translation>仅预测</translation>
    </message>
    <message>
        <source>The studio proposes {target}.</source>
        <translation>建议使用 {target}。</translation>
    </message>
    <message>
        <source>Choose targets</source>
        <translation>选择目标</translation>
    </message>
</context>
<context>
    <name>TensorDialog</name>
    <message>
        <source>Tensor</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>Export .npy…</source>
        <translation>导出 .npy…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Values</source>
        <translation>数值个数</translation>
    </message>
    <message>
        <source>Range</source>
        <translation>范围</translation>
    </message>
    <message>
        <source>Mean ± std</source>
        <translation>均值 ± 标准差</translation>
    </message>
    <message>
        <source>Zeros</source>
        <translation>零值</translation>
    </message>
    <message>
        <source>Not finite</source>
        <translation>非有限值</translation>
    </message>
    <message>
        <source>First values</source>
        <translation>开头的数值</translation>
    </message>
    <message>
        <source>Export constant</source>
        <translation>导出常量</translation>
    </message>
</context>
<context>
    <name>TensorListView</name>
    <message>
        <source>Filter: a part of a name, a type or a shape</source>
        <translation>筛选：名称、类型或形状的一部分</translation>
    </message>
    <message>
        <source>Filter the tensors</source>
        <translation>筛选张量</translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>This file holds weights and no graph. Double-click a tensor to see its values.</source>
        <translation>此文件只有权重，没有计算图。双击张量可查看其数值。</translation>
    </message>
    <message>
        <source>{n} tensors</source>
        <translation>{n} 个张量</translation>
    </message>
    <message>
        <source>{n} of {total} tensors</source>
        <translation>{n} / {total} 个张量</translation>
    </message>
</context>
<context>
    <name>TensorTable</name>
    <message>
        <source>Tensor</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>Shape</source>
        <translation>形状</translation>
    </message>
    <message>
        <source>Elements</source>
        <translation>元素数</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
</context>
<context>
    <name>TrustDialog</name>
    <message>
        <source>Trust this folder?</source>
        <translation>信任此文件夹？</translation>
    </message>
    <message>
        <source>This project runs Python</source>
        <translation>此项目会运行 Python</translation>
    </message>
    <message>
        <source>To export its source, Python files of this folder have to run, and they can do whatever you can do on this computer. Go on only when you know where they come from.</source>
        <translation>要导出源模型，必须运行此文件夹中的 Python 文件，而它们能做您在这台电脑上能做的任何事。只有在您清楚其来源时才继续。</translation>
    </message>
    <message>
        <source>Python files in the folder</source>
        <translation>文件夹中的 Python 文件</translation>
    </message>
    <message>
        <source>{n} files can run:</source>
        <translation>可运行 {n} 个文件：</translation>
    </message>
    <message>
        <source>A changed file asks again.</source>
        <translation>文件改变后会再次询问。</translation>
    </message>
    <message>
        <source>Do not run</source>
        <translation>不运行</translation>
    </message>
    <message>
        <source>Trust and run</source>
        <translation>信任并运行</translation>
    </message>
</context>
<context>
    <name>VerdictCard</name>
    <message>
        <source>rule</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>tool</source>
        <translation>工具</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>No target is chosen, or this graph could not be judged.</source>
        <translation>未选择目标，或该图无法判定。</translation>
    </message>
    <message>
        <source>Not run: {why} ({source})</source>
        <translation>未运行：{why}（{source}）</translation>
    </message>
    <message>
        <source>Ran on this target: {source}</source>
        <translation>已在此目标上运行：{source}</translation>
    </message>
    <message>
        <source>Did not run on this target: {source}</source>
        <translation>未在此目标上运行：{source}</translation>
    </message>
    <message>
        <source>Fix: {what}</source>
        <translation>修复：{what}</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>MACs</source>
        <translation>MAC</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>激活</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>延迟</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>误差</translation>
    </message>
    <message>
        <source>Module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>Show this line in the editor</source>
        <translation>在编辑器中显示此行</translation>
    </message>
    <message>
        <source>Python</source>
        <translation>Python</translation>
    </message>
</context>
<context>
    <name>VerifyPage</name>
    <message>
        <source>Verify</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>Loads what was made in its real runtime and compares it with the float original.</source>
        <translation>在真正的运行时中加载结果，并与浮点原模型比较。</translation>
    </message>
    <message>
        <source>&amp;Run verify</source>
        <translation>运行验证(&amp;R)</translation>
    </message>
    <message>
        <source>Evaluation data</source>
        <translation>评估数据</translation>
    </message>
    <message>
        <source>&amp;Compare on</source>
        <translation>比较数据(&amp;C)</translation>
    </message>
    <message>
        <source>S&amp;amples</source>
        <translation>样本数(&amp;A)</translation>
    </message>
    <message>
        <source>Accuracy may &amp;fall by</source>
        <translation>精度最多下降(&amp;F)</translation>
    </message>
    <message>
        <source>points</source>
        <translation>个百分点</translation>
    </message>
    <message>
        <source>SNR m&amp;ust reach</source>
        <translation>SNR 须达到(&amp;U)</translation>
    </message>
    <message>
        <source>Nothing is made yet: choose a quantization or a file on the pages before.</source>
        <translation>尚未生成任何内容：请在前面的页面中选择量化方式或文件。</translation>
    </message>
    <message>
        <source>SNR compares the size of the outputs with the size of the error: 20 dB is an error of a tenth, 40 dB of a hundredth. Float conversions reach 80 dB and more, good int8 20 to 40 dB.</source>
        <translation>SNR 是输出大小与误差大小之比：20 dB 表示误差为十分之一，40 dB 为百分之一。浮点转换可达 80 dB 以上，良好的 int8 为 20 至 40 dB。</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>SNR</source>
        <translation>SNR</translation>
    </message>
    <message>
        <source>Largest error</source>
        <translation>最大误差</translation>
    </message>
    <message>
        <source>Same class</source>
        <translation>类别相同</translation>
    </message>
    <message>
        <source>Within budget</source>
        <translation>在预算内</translation>
    </message>
    <message>
        <source>Comparison with the float original</source>
        <translation>与浮点原模型比较</translation>
    </message>
    <message>
        <source>An accuracy budget needs labels: name data that has them, or take the budget away.</source>
        <translation>精度预算需要标签：请指定带标签的数据，或去掉该预算。</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>not compared yet</source>
        <translation>尚未比较</translation>
    </message>
    <message>
        <source>{n} samples: {origin}</source>
        <translation>{n} 个样本：{origin}</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>Change verify</source>
        <translation>更改验证</translation>
    </message>
</context>
<context>
    <name>Wizard</name>
    <message>
        <source>opset {n}</source>
        <translation>opset {n}</translation>
    </message>
    <message>
        <source>{name} exporter</source>
        <translation>{name} 导出器</translation>
    </message>
    <message>
        <source>{n} of {total} nodes in fewer bits</source>
        <translation>{total} 个节点中 {n} 个降低了位数</translation>
    </message>
    <message>
        <source>{n} of {total} nodes delegated</source>
        <translation>{total} 个节点中 {n} 个已委托</translation>
    </message>
    <message>
        <source>XNNPACK takes {n} of {total} nodes</source>
        <translation>XNNPACK 接受 {total} 个节点中的 {n} 个</translation>
    </message>
    <message>
        <source>made in {time}, from the cache</source>
        <translation>用时 {time}，取自缓存</translation>
    </message>
    <message>
        <source>made in {time}</source>
        <translation>用时 {time}</translation>
    </message>
    <message>
        <source>equal</source>
        <translation>完全相同</translation>
    </message>
</context>
<context>
    <name>WrappingLabel</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>全部复制</translation>
    </message>
</context>
<context>
    <name>_Row</name>
    <message>
        <source>simulated</source>
        <translation>模拟</translation>
    </message>
    <message>
        <source>{n} cores</source>
        <translation>{n} 核</translation>
    </message>
    <message>
        <source>1 core</source>
        <translation>1 核</translation>
    </message>
</context>
<context>
    <name>actions</name>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Graph</source>
        <translation>图(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Overlay</source>
        <translation>着色(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation>模型(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>运行(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Device</source>
        <translation>设备(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>打开(&amp;O)…</translation>
    </message>
    <message>
        <source>Tr&amp;y the sample</source>
        <translation>试用示例(&amp;Y)</translation>
    </message>
    <message>
        <source>Open &amp;beside, to compare…</source>
        <translation>并排打开以比较(&amp;B)…</translation>
    </message>
    <message>
        <source>Open &amp;ETRecord…</source>
        <translation>打开 ETRecord(&amp;E)…</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation>保存(&amp;S)</translation>
    </message>
    <message>
        <source>Save &amp;as…</source>
        <translation>另存为(&amp;A)…</translation>
    </message>
    <message>
        <source>&amp;Write report…</source>
        <translation>生成报告(&amp;W)…</translation>
    </message>
    <message>
        <source>&amp;Close project</source>
        <translation>关闭项目(&amp;C)</translation>
    </message>
    <message>
        <source>Se&amp;ttings…</source>
        <translation>设置(&amp;T)…</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Copy node as text</source>
        <translation>将节点复制为文本(&amp;C)</translation>
    </message>
    <message>
        <source>Copy &amp;problems as Markdown</source>
        <translation>将问题复制为 Markdown(&amp;P)</translation>
    </message>
    <message>
        <source>Copy its &amp;name</source>
        <translation>复制名称(&amp;N)</translation>
    </message>
    <message>
        <source>R&amp;ename…</source>
        <translation>重命名(&amp;E)…</translation>
    </message>
    <message>
        <source>Set an &amp;attribute…</source>
        <translation>设置属性(&amp;A)…</translation>
    </message>
    <message>
        <source>Re&amp;move the node</source>
        <translation>移除节点(&amp;M)</translation>
    </message>
    <message>
        <source>Cu&amp;t out, choose inputs and outputs…</source>
        <translation>剪切，选择输入和输出(&amp;T)…</translation>
    </message>
    <message>
        <source>Fix si&amp;zes of dims…</source>
        <translation>固定维度大小(&amp;Z)…</translation>
    </message>
    <message>
        <source>&amp;Find in the graph</source>
        <translation>在图中查找(&amp;F)</translation>
    </message>
    <message>
        <source>Command &amp;palette…</source>
        <translation>命令面板(&amp;P)…</translation>
    </message>
    <message>
        <source>Show the whole &amp;graph</source>
        <translation>显示整个图(&amp;G)</translation>
    </message>
    <message>
        <source>Fit the &amp;width</source>
        <translation>适应宽度(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Actual size</source>
        <translation>实际大小(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Back to the last place</source>
        <translation>回到上一处(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Forward</source>
        <translation>前进(&amp;F)</translation>
    </message>
    <message>
        <source>Operators × targets &amp;matrix</source>
        <translation>算子 × 目标矩阵(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Compare stages</source>
        <translation>比较阶段(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Save picture…</source>
        <translation>保存图片(&amp;S)…</translation>
    </message>
    <message>
        <source>Save &amp;table of nodes…</source>
        <translation>保存节点表(&amp;T)…</translation>
    </message>
    <message>
        <source>Open in &amp;Netron</source>
        <translation>用 &amp;Netron 打开</translation>
    </message>
    <message>
        <source>&amp;Reset layout of the window</source>
        <translation>重置窗口布局(&amp;R)</translation>
    </message>
    <message>
        <source>Add a &amp;bookmark</source>
        <translation>添加书签(&amp;B)</translation>
    </message>
    <message>
        <source>Boo&amp;kmarks…</source>
        <translation>书签(&amp;K)…</translation>
    </message>
    <message>
        <source>&amp;Follow the edge to its other end</source>
        <translation>沿边前往另一端(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Start a path here</source>
        <translation>从此处开始路径(&amp;S)</translation>
    </message>
    <message>
        <source>Show the &amp;path to here</source>
        <translation>显示到此处的路径(&amp;P)</translation>
    </message>
    <message>
        <source>Show &amp;all at full strength</source>
        <translation>全部恢复原色(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Close all scopes</source>
        <translation>收起所有作用域(&amp;C)</translation>
    </message>
    <message>
        <source>Open scopes to depth &amp;2</source>
        <translation>展开到第 &amp;2 层</translation>
    </message>
    <message>
        <source>Open scopes to depth &amp;3</source>
        <translation>展开到第 &amp;3 层</translation>
    </message>
    <message>
        <source>&amp;Open all scopes</source>
        <translation>展开所有作用域(&amp;O)</translation>
    </message>
    <message>
        <source>Open or close this scop&amp;e</source>
        <translation>展开或收起此作用域(&amp;E)</translation>
    </message>
    <message>
        <source>Open or close its bod&amp;y in place</source>
        <translation>就地展开或收起其子图(&amp;Y)</translation>
    </message>
    <message>
        <source>Compare with the ne&amp;xt block like it…</source>
        <translation>与下一个相同块比较(&amp;X)…</translation>
    </message>
    <message>
        <source>&amp;Hide constants</source>
        <translation>隐藏常量(&amp;H)</translation>
    </message>
    <message>
        <source>Hide shape arith&amp;metic</source>
        <translation>隐藏形状运算(&amp;M)</translation>
    </message>
    <message>
        <source>Choose &amp;targets…</source>
        <translation>选择目标(&amp;T)…</translation>
    </message>
    <message>
        <source>&amp;Next target</source>
        <translation>下一个目标(&amp;N)</translation>
    </message>
    <message>
        <source>Next &amp;problem</source>
        <translation>下一个问题(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Ask the real tools</source>
        <translation>询问真实工具(&amp;A)</translation>
    </message>
    <message>
        <source>Pro&amp;file the nodes on This computer</source>
        <translation>在这台电脑上剖析节点(&amp;F)</translation>
    </message>
    <message>
        <source>Compare the &amp;layers…</source>
        <translation>逐层比较(&amp;L)…</translation>
    </message>
    <message>
        <source>&amp;Wizard…</source>
        <translation>向导(&amp;W)…</translation>
    </message>
    <message>
        <source>&amp;Run the recipe</source>
        <translation>运行配方(&amp;R)</translation>
    </message>
    <message>
        <source>Run everything a&amp;new</source>
        <translation>全部重新运行(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Cancel the running job</source>
        <translation>取消正在运行的任务(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Deploy &amp;&amp; run…</source>
        <translation>部署并运行(&amp;D)…</translation>
    </message>
    <message>
        <source>&amp;Stop all runs</source>
        <translation>停止所有运行(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Connect over the network…</source>
        <translation>通过网络连接(&amp;C)…</translation>
    </message>
    <message>
        <source>Add a &amp;virtual phone</source>
        <translation>添加虚拟手机(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts</source>
        <translation>键盘快捷键(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;About Deployment Studio</source>
        <translation>关于 Deployment Studio(&amp;A)</translation>
    </message>
</context>
<context>
    <name>questions</name>
    <message>
        <source>Unsaved changes</source>
        <translation>未保存的更改</translation>
    </message>
    <message>
        <source>Save the changes to “{name}”?</source>
        <translation>保存对“{name}”的更改？</translation>
    </message>
    <message>
        <source>What is not saved is lost. Artifacts and runs are kept in any case.</source>
        <translation>未保存的内容将丢失。产物和运行记录始终保留。</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>放弃</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Connect over the network</source>
        <translation>通过网络连接</translation>
    </message>
    <message>
        <source>On the phone, under Developer options → Wireless debugging, you find its address.
Address:</source>
        <translation>在手机的“开发者选项 → 无线调试”中可以看到地址。
地址：</translation>
    </message>
</context>
<context>
    <name>steps</name>
    <message>
        <source>Source</source>
        <translation>源模型</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Fix</source>
        <translation>修复</translation>
    </message>
    <message>
        <source>Quantize</source>
        <translation>量化</translation>
    </message>
    <message>
        <source>Convert</source>
        <translation>转换</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>Deploy</source>
        <translation>部署</translation>
    </message>
    <message>
        <source>Exported</source>
        <translation>已导出</translation>
    </message>
    <message>
        <source>Edited</source>
        <translation>已编辑</translation>
    </message>
    <message>
        <source>Fixed</source>
        <translation>已修复</translation>
    </message>
    <message>
        <source>Quantized</source>
        <translation>已量化</translation>
    </message>
    <message>
        <source>Converted</source>
        <translation>已转换</translation>
    </message>
    <message>
        <source>int8 static · {n} samples</source>
        <translation>int8 静态 · {n} 个样本</translation>
    </message>
    <message>
        <source>int8 weights, dynamic</source>
        <translation>int8 权重，动态</translation>
    </message>
    <message>
        <source>float16</source>
        <translation>float16</translation>
    </message>
    <message>
        <source>any batch</source>
        <translation>任意批大小</translation>
    </message>
    <message>
        <source>fixed batch</source>
        <translation>固定批大小</translation>
    </message>
    <message>
        <source>per channel</source>
        <translation>逐通道</translation>
    </message>
    <message>
        <source>for {target}</source>
        <translation>用于 {target}</translation>
    </message>
    <message>
        <source>accuracy loss ≤ 1 point</source>
        <translation>精度损失 ≤ 1 个百分点</translation>
    </message>
    <message>
        <source>accuracy loss ≤ {points} points</source>
        <translation>精度损失 ≤ {points} 个百分点</translation>
    </message>
    <message>
        <source>{n} inputs</source>
        <translation>{n} 个输入</translation>
    </message>
    <message>
        <source>remove {node}</source>
        <translation>移除 {node}</translation>
    </message>
    <message>
        <source>cut out {first} → {last}</source>
        <translation>截取 {first} → {last}</translation>
    </message>
    <message>
        <source>rename {old} → {new}</source>
        <translation>重命名 {old} → {new}</translation>
    </message>
</context>
<context>
    <name>verdict</name>
    <message>
        <source>runs</source>
        <translation>可运行</translation>
    </message>
    <message>
        <source>conditional</source>
        <translation>有条件</translation>
    </message>
    <message>
        <source>falls back</source>
        <translation>回退</translation>
    </message>
    <message>
        <source>fails</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
</context>
</TS>
