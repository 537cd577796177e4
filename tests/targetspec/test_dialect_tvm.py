"""TVM's targets: the string form with its quoting, the JSON form, tags, leftovers, and what is refused."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from targetspec import (
    CompositeTarget,
    CpuTarget,
    CudaTarget,
    HexagonTarget,
    NotRepresentableError,
    OpenCLTarget,
    RocmTarget,
    TargetSyntaxError,
    VulkanTarget,
    WebGPUTarget,
    parse,
    parse_full,
    tag,
)
from targetspec.dialects import tvm
from targetspec.dialects.tvm_plain import read_plain
from targetspec.dialects.tvm_reading import read_config
from targetspec.dialects.tvm_text import attribute_word, interpreted
from targetspec.dialects.words import Source
from targetspec.testing import targets

TRIPLE = "aarch64-unknown-linux-gnu"


def document(parsed):
    """Return what a parsed text is written as."""
    return json.loads(tvm.format_parsed(parsed))


def left_over(text):
    """Return the leftovers of a text."""
    return parse_full(text, "tvm").leftovers


# -- laws ---------------------------------------------------------------------------------------------


def fitting(target):
    """Return a target without the fields that TVM has no attribute for, or None where that leaves no target."""
    for _ in range(4):
        try:
            target.format("tvm")
        except NotRepresentableError as error:
            fields = {name for name, _ in error.fields}
            if not fields <= set(target.specs()):
                return None
            try:
                target = target.evolve(**{name: target.defaults()[name] for name in fields})
            except ValueError:
                return None
        else:
            return target
    return None


@given(targets())
def test_what_is_written_is_read_back(target):
    """What TVM has attributes for comes back equal, and a lossy text can always be read."""
    parse(target.format("tvm", lossy=True), "tvm")
    said = fitting(target)
    if said is not None:
        assert said == parse(said.format("tvm"), "tvm")


@given(st.text(alphabet="ab ,'\\=-:é", min_size=1, max_size=12).map(str.strip).filter(bool))
def test_a_quoted_value_is_read_as_it_stands(value):
    """Any text can be a value of the string form, and any list of texts."""
    for name, stated in (("device", value), ("keys", [value, "plain", value])):
        written = f"llvm {attribute_word(name, stated)}"
        assert {"kind": "llvm", name: stated} == document(parse_full(written, "tvm"))


KINDS = (
    "llvm",
    "c",
    "cuda",
    "nvptx",
    "rocm",
    "opencl",
    "vulkan",
    "webgpu",
    "hexagon",
    "composite",
    "trn",
    "",
)
VALUES = {
    "mtriple": ("x86_64-linux-gnu", "arm64-linux-android", "foo-bar", "'riscv32-linux'", ""),
    "target": ("armv7l-linux-gnueabihf",),
    "mcpu": ("haswell", "cortex-a72", "sm_80", "sm_999", "gfx90a:xnack-", "hexagonv68", "generic-rv32"),
    "-mcpu": ("haswell",),
    "arch": ("sm_90a", "9.0"),
    "mattr": (
        "+avx2",
        "+neon,-crc",
        "+avx512f,-avx512f",
        "+64bit,+m",
        "neon",
        ",",
        "+xnack",
        "'+sve','+sve2'",
    ),
    "num-cores": (4, 4, 0, "4", "4x", True, 1 << 70),
    "max_num_threads": (256, "256"),
    "mfloat-abi": ("soft", "softfp"),
    "mabi": ("lp64d", "ilp32"),
    "libs": ("cublas", "cblas,cblas", ["mkl"], ["a", "a"], [], [1]),
    "keys": ("cpu,arm_cpu", ["cpu"], {"a": 1}),
    "device": ("arm_cpu", "'two words'", r"a\,b", "1"),
    "model": ("m1", "'two words'", "a b"),
    "opt-level": (3, "3"),
    "system-lib": (True, 1, 2, "true", "maybe"),
    "supports_int8": (True, False, "1"),
    "supports_int16": (True, 0, "true"),
    "supports_float32": (True, False, "1", "0"),
    "supports_dedicated_allocation": (True,),
    "supports_push_descriptor": (1,),
    "host": (
        "llvm",
        "'llvm -mcpu=haswell'",
        "cuda",
        "c -system-lib=1",
        {"kind": "llvm", "mcpu": "haswell"},
        3,
    ),
    "cl-opt": ("-a", "-a=2"),
    "kind": ("llvm",),
    "feature.has_sve": (True, "1"),
    "tag": ("x",),
    "nosuch": ("x",),
}
STATED = st.lists(
    st.sampled_from([(name, value) for name, values in VALUES.items() for value in values]), max_size=4
)


def longer(text):
    """Return what the reader that knows the places makes of a text."""
    source = Source(text, "tvm")
    return read_config((tvm.read_json if text.startswith("{") else tvm.read_text)(source, tvm._WITHIN))


@settings(max_examples=300)
@given(st.sampled_from(KINDS), STATED, st.booleans(), st.sampled_from(["=", "=", " ", " -jit "]))
def test_the_short_way_reads_as_the_long_one(kind, stated, as_json, sign):
    """Whatever is read without places is read so with them."""
    members = ((name, value) for name, value in [("kind", kind), *stated])
    pairs = ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in members)
    text = (
        f"{{{pairs}}}" if as_json else " ".join([kind, *(f"-{name}{sign}{value}" for name, value in stated)])
    )
    got = read_plain(text)
    assert got is None or got == longer(text)


@pytest.mark.parametrize(
    "text",
    [
        "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell -mattr=+avx512f -num-cores=4 -keys=cpu",
        '{"kind": "llvm", "mtriple": "aarch64-linux-gnu", "mattr": ["+sve"], "host": "llvm"}',
        "cuda -arch=sm_80 -libs=cudnn -host='llvm -mcpu=haswell'",
        "c -mcpu=cortex-m7 -system-lib=1",
        "llvm --mcpu haswell -num-cores 4 -mattr=-avx2 --system-lib -keys cpu",
        '{"kind": "vulkan", "supports_int8": 1, "supports_int16": true, "supports_float32": true, "supports_float16": false}',
    ],
)
def test_common_texts_are_read_the_short_way(text):
    """What most targets state needs no places."""
    assert longer(text) == read_plain(text)


@given(st.text(max_size=60) | st.text(alphabet="llvm -host='{}[]\":,\\cuda devices=", max_size=60))
def test_any_text_is_a_target_or_an_error(text):
    """Whatever comes in, a TargetSyntaxError within the text is all that can go wrong."""
    try:
        tvm.parse(text)
        whole, span = text, (0, 0)
    except TargetSyntaxError as error:
        whole, span = error.text, error.span
    assert text == whole
    assert 0 <= span[0] <= span[1] <= len(text) + 1


@pytest.mark.parametrize(
    "text",
    [
        '{"kind":"llvm","host":' * 400 + '"llvm"' + "}" * 400,
        '{"kind":"llvm","keys":' + "[" * 4000,
        "composite -devices=" + "c," * 4900,
        '{"kind":"composite","devices":[' + '"c",' * 2400 + '"c"]}',
        "llvm -keys='" + r"\'a" * 3000,
        "cuda -max_num_threads=" + "9" * 9000,
        '{"kind":"cuda","max_num_threads":' + "9" * 9000 + "}",
    ],
)
def test_depth_and_length_are_bounded(text):
    """What nests or repeats without end is refused, not followed."""
    with pytest.raises(TargetSyntaxError):
        parse(text, "tvm")


# -- the string form ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("blah", "blah"),
        ("'blah'", "blah"),
        ("'bl'ah", "'bl'ah"),
        (r"'\'blah\''", "'blah'"),
        (r"'\'\\\'blah\\\'\''", r"'\'blah\''"),
        (r"\'string", "'string"),
        ("''", ""),
        (r"a\ b", "a b"),
    ],
)
def test_quotes_and_backslashes(written, meant):
    """Quotes around the whole go, backslashes outside of inner quotes go, and inner quotes stay."""
    assert meant == interpreted(written)


@pytest.mark.parametrize(
    ("written", "items"),
    [
        ("-danny,-sammy=1,-kirby='string with space'", ["-danny", "-sammy=1", "-kirby='string with space'"]),
        ("'fred, foo, bar',baz", ["fred, foo, bar", "baz"]),
        (r"'fr\'ed','f\'oo',' bar,baz '", ["fr'ed", "f'oo", "bar,baz"]),
        ("'a,b'", ["a", "b"]),
        (r"'\'a,b\''", ["a,b"]),
        ("a,,b,", ["a", "b"]),
    ],
)
def test_lists_are_split_at_commas_outside_quotes(written, items):
    """A list of TVM's string form is interpreted as a whole, split, and interpreted item by item."""
    assert items == document(parse_full(f"llvm -keys={written}", "tvm"))["keys"]


def test_a_text_of_2019_is_todays_json():
    """Old names, `-key value`, two dashes and flags without a value are read, and written as TVM reads them today."""
    text = (
        "llvm -device=arm_cpu --model bcm2837 -target=armv7l-linux-gnueabihf -mattr=+neon,+crc --system-lib"
    )
    expected = {
        "kind": "llvm",
        "mtriple": "armv7l-linux-gnueabihf",
        "mattr": ["+neon", "+crc"],
        "device": "arm_cpu",
        "model": "bcm2837",
        "system-lib": True,
    }
    got = parse_full(text, "tvm")
    assert got.target == CpuTarget(triple="armv7l-linux-gnueabihf").evolve(
        features=CpuTarget(triple="armv7l-linux-gnueabihf").request_features(["neon", "crc"], []),
        model="bcm2837",
    )
    assert ("-device=arm_cpu", "--system-lib") == got.leftovers
    assert expected == document(got)


def test_hosts_nest_in_quotes_json_and_by_name():
    """A host is a kind, a quoted text, a JSON object or text, or a tag."""
    host = CpuTarget(triple=TRIPLE, cpu="cortex-a72")
    texts = (
        f"cuda -arch=sm_80 -host='llvm -mcpu=cortex-a72 -mtriple={TRIPLE}'",
        f"cuda -arch=sm_80 --host 'llvm -mcpu=cortex-a72 -mtriple={TRIPLE}'",
        f'{{"kind":"cuda","arch":"sm_80","host":{{"kind":"llvm","mcpu":"cortex-a72","mtriple":"{TRIPLE}"}}}}',
        f'{{"kind":"cuda","arch":"sm_80","host":"llvm -mcpu=cortex-a72 -mtriple={TRIPLE}"}}',
    )
    for text in texts:
        assert CudaTarget(arch="sm_80", host=host) == parse(text, "tvm")
    assert tag("arm/rasp4b64") == parse("cuda -host=arm/rasp4b64", "tvm").host
    assert CpuTarget() == parse("cuda --host llvm", "tvm").host


def test_composites_have_devices_and_one_host():
    """A composite's devices are targets, quoted where they have attributes; its old host's name is read too."""
    members = (CudaTarget(arch="sm_80"), CpuTarget(cpu="skylake"))
    text = "composite -devices=cuda\\ -arch=sm_80,'llvm -mcpu=skylake' -target_host=llvm"
    got = parse_full(text, "tvm")
    assert CompositeTarget(members=members, host=CpuTarget()) == got.target
    assert got.target == parse(tvm.format_parsed(got), "tvm")


# -- kinds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("llvm", CpuTarget()),
        ("c -mcpu=cortex-m7", CpuTarget(cpu="cortex-m7")),
        ("cuda -arch=sm_90a -libs=cudnn,cublas", CudaTarget(arch="sm_90a", libs={"cublas", "cudnn"})),
        ("nvptx -mcpu=sm_20", CudaTarget(arch="sm_20")),
        ("cuda -shared_memory_per_block=49152", CudaTarget(max_shared_memory_per_block=49152)),
        (
            "rocm -mcpu=gfx90a:sramecc+ -mattr=-xnack -mtriple=amdgcn-amd-amdhsa-hcc",
            RocmTarget(target_id="gfx90a:sramecc+:xnack-", os="amdhsa"),
        ),
        (
            "rocm -mcpu=gfx1100 -mattr=+wavefrontsize32,+cumode",
            RocmTarget(target_id="gfx1100", warp_size=32, cumode=True),
        ),
        (
            "opencl -model=Mali-T860MP4@800Mhz -device=mali",
            OpenCLTarget(model="Mali-T860MP4@800Mhz", device="mali"),
        ),
        (
            "hexagon -mcpu=hexagonv68 -mattr=+hvxv68,+hvx-length128b,+hvx-qfloat -vtcm-capacity=262144",
            HexagonTarget(version="v68", hvx_bytes=128, extensions={"hvx-qfloat"}, vtcm_bytes=262144),
        ),
        (
            "webgpu -supports_subgroups=1 -thread_warp_size=32",
            WebGPUTarget(extensions={"subgroups"}, warp_size=32),
        ),
        (
            '{"kind":"vulkan","supports_float16":1,"supports_push_descriptor":true,"device_name":"A GPU"}',
            VulkanTarget(
                capabilities={"Float16"},
                extensions={"VK_KHR_push_descriptor", "VK_KHR_descriptor_update_template"},
                model="A GPU",
            ),
        ),
        (
            "vulkan -vulkan_api_version=4206592 -max_spirv_version=66816 -supported_subgroup_operations=5",
            VulkanTarget(api_version="1.3", spirv_version="1.5", subgroup_operations={"basic", "arithmetic"}),
        ),
    ],
)
def test_attributes_are_our_fields(text, target):
    """What TVM says of a machine is in the target, and is written so that it comes back."""
    got = parse_full(text, "tvm")
    assert target == got.target
    assert target == parse(tvm.format_parsed(got), "tvm")
    assert target == parse(target.format("tvm"), "tvm")


def test_nothing_is_filled_in():
    """What TVM would fill in from its own machine or by default is not stated."""
    assert CudaTarget() == parse("cuda", "tvm")
    assert None is parse('{"kind": "llvm", "num-cores": 4}', "tvm").triple
    assert {"kind": "cuda"} == json.loads(CudaTarget().format("tvm"))


def test_features_without_an_architecture_are_left_over():
    """Without a triple or a CPU of one architecture nobody knows what set the features change; their names are checked."""
    got = parse_full("llvm -mattr=+fma,+avx2", "tvm")
    assert (CpuTarget(), ("-mattr=+fma,+avx2",)) == (got.target, got.leftovers)
    assert {"kind": "llvm", "mattr": ["+fma", "+avx2"]} == document(got)
    assert CpuTarget(cpu="cortex-a53") == parse("llvm -mcpu=cortex-a53 -mattr=+neon", "tvm")
    with pytest.raises(TargetSyntaxError, match="no architecture has a feature 'nosuch'"):
        parse("llvm -mattr=+nosuch", "tvm")


def test_what_a_device_lacks_is_left_over():
    """A fact that is the same as not stating it is given back all the same."""
    texts: dict[str, dict[str, object]] = {
        "vulkan --supports_float16=False": {"supports_float16": False},
        "vulkan -supports_float32=1": {"supports_float32": True},
        "hexagon -mattr=-hvx-ieee-fp,+hvx-length128b": {"mattr": ["-hvx-ieee-fp", "+hvx-length128b"]},
        "hexagon -mattr=+hvxv68": {"mattr": ["+hvxv68"]},
        "rocm -mattr=+xnack": {"mattr": ["+xnack"]},
        "rocm -mattr=+dotprod": {"mattr": ["+dotprod"]},
    }
    for text, stated in texts.items():
        got = document(parse_full(text, "tvm"))
        assert {"kind": text.split()[0]} | stated == got


# -- leftovers ----------------------------------------------------------------------------------------


def test_options_keep_their_order_and_text():
    """Compiler options are leftovers, as they came; the backend comes first where it is not the usual one."""
    text = "c -executor=aot --link-params -mcpu=cortex-m55 -runtime=c -interface-api c --unpacked-api"
    expected = ("c", "-executor=aot", "--link-params", "-runtime=c", "-interface-api", "c", "--unpacked-api")
    assert expected == left_over(text)
    assert {
        "kind": "c",
        "mcpu": "cortex-m55",
        "executor": "aot",
        "link-params": True,
        "runtime": "c",
        "interface-api": "c",
        "unpacked-api": True,
    } == document(parse_full(text, "tvm"))
    assert ("nvptx",) == left_over("nvptx -mcpu=sm_80")
    assert {"kind": "nvptx", "mcpu": "sm_80"} == document(parse_full("nvptx -mcpu=sm_80", "tvm"))


def test_options_of_json_are_words():
    """An option of JSON is left over as the word that the string form has for it, with its type."""
    text = (
        '{"kind":"llvm","tag":"","keys":["x86","cpu"],"opt-level":0,"fast-math":true,"jit":"orcjit",'
        '"cl-opt":["-unroll-count:uint=3","-name:string=a b,c"],"feature.has_sve":false}'
    )
    got = parse_full(text, "tvm")
    assert (
        "-tag=''",
        "-keys=x86,cpu",
        "-opt-level=0",
        "-fast-math=1",
        "-jit=orcjit",
        r"-cl-opt='-unroll-count:uint=3,\'-name:string=a b,c\''",
        "-feature.has_sve=0",
    ) == got.leftovers
    assert json.loads(text) == document(got)


def test_options_of_hosts_and_devices_are_kept():
    """The options of a target within a target are one word of the leftovers."""
    text = '{"kind":"cuda","host":{"kind":"c","opt":0}}'.replace('"opt":0', '"executor":"a b","keys":["cpu"]')
    got = parse_full(text, "tvm")
    assert (r"-host='c -executor=\'a b\' -keys=cpu'",) == got.leftovers
    assert json.loads(text) == document(got)
    text = '{"kind":"composite","devices":[{"kind":"cuda"},{"kind":"llvm","jit":"mcjit"}],"keys":["a"]}'
    assert json.loads(text) == document(parse_full(text, "tvm"))


def test_the_words_of_the_text_are_kept_where_the_text_is():
    """A parsed text that still has its text is written in the text's own values; another target's is not."""
    text = "llvm -mtriple=x86_64-- -mcpu=skx -mattr=+avx2,+sse"
    parsed = parse_full(text, "tvm")
    with_text = SimpleNamespace(target=parsed.target, leftovers=parsed.leftovers, dialect="tvm", text=text)
    expected = {"kind": "llvm", "mtriple": "x86_64--", "mcpu": "skx", "mattr": ["+avx2", "+sse"]}
    assert expected == document(with_text)
    with_text.target = parsed.target.evolve(num_cores=4)
    assert 4 == document(with_text)["num-cores"]
    assert "skylake-avx512" == document(with_text)["mcpu"]


# -- tags ---------------------------------------------------------------------------------------------


def test_tags_alone_and_in_json():
    """A tag is a target by name; in JSON without a kind its facts can be overridden, with a kind it is a label."""
    assert tag("nvidia/nvidia-a100") == parse("nvidia/nvidia-a100", "tvm")
    assert tag("nvidia/nvidia-a100") == parse('"nvidia/nvidia-a100"', "tvm")
    got = parse_full('{"tag": "nvidia/nvidia-a100", "l2_cache_size_bytes": 12345}', "tvm")
    assert tag("nvidia/nvidia-a100").evolve(l2_cache_bytes=12345) == got.target
    assert ("-tag=nvidia/nvidia-a100",) == got.leftovers
    assert CpuTarget() == parse('{"tag": "nvidia/nvidia-a100", "kind": "llvm"}', "tvm")
    with pytest.raises(TargetSyntaxError, match="no tag 'nvidia/nosuch'"):
        parse("nvidia/nosuch", "tvm")
    with pytest.raises(TargetSyntaxError, match="did you mean nvidia/geforce-rtx-3090"):
        parse("nvidia/geforce-rtx-309", "tvm")


# -- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("llvm -num-cores=-4", "-4", "num_cores: must be from 1"),
        ('{"kind": "llvm", "num-cores": -4}', "-4", "num_cores: must be from 1"),
        ('{"kind": "llvm", "num-cores": true}', "true", "num-cores must be a whole number, got True"),
        ('{"kind": "llvm", "num-cores": "4"}', '"4"', "num-cores must be a whole number, got '4'"),
        ('{"kind": "webgpu", "max_num_threads": 2.5}', "2.5", "must be a whole number"),
        ('{"kind": "llvm", "mattr": "+neon"}', '"+neon"', "mattr must be an array of strings"),
        ('{"kind": "llvm", "foo": 1}', "foo", "the kind llvm has no attribute 'foo'"),
        ('{"kind": "llvm", "kind": "c"}', "kind", "kind is stated twice"),
        ("llvm -mcpu=skylake -mcpu=haswell", "mcpu", "mcpu is stated twice"),
        ("cuda -arch=sm_80 -mcpu=sm_90", "sm_90", "arch is stated twice, and the two differ"),
        ("llvm -mcpu=nosuch", "nosuch", "unknown CPU 'nosuch'"),
        ("llvm -mcpu=skylake -mattr=+avx2,+nosuch", "+nosuch", "unknown feature 'nosuch' for x86"),
        (
            '{"kind":"llvm","mcpu":"skylake","mattr":["+avx2","+nosuch"]}',
            "+nosuch",
            "unknown feature 'nosuch'",
        ),
        ("cuda -host='llvm -mcpu=nosuch'", "nosuch", "unknown CPU 'nosuch'"),
        ("cuda -arch=sm_banana", "sm_banana", "arch must be like sm_80"),
        ("cuda -arch=sm_999", "sm_999", "unknown CUDA architecture 'sm_999'"),
        ("rocm -mcpu=banana", "banana", "unknown AMD processor"),
        ("rocm -mattr=+dotproduct", "+dotproduct", "unknown feature 'dotproduct' for amdgpu"),
        ("aws/trn1/trn1.2xlarge", "aws/trn1/trn1.2xlarge", "needs the kind 'trn', which is not known here"),
        ('{"tag": "riscv/spacemit-k3"}', "riscv/spacemit-k3", "needs the CPU 'spacemit-x100'"),
        ("ethos-u -accelerator_config=x", "ethos-u", "TVM's kind 'ethos-u' is not read here (an NPU"),
        ("LLVM", "LLVM", "TVM has no kind 'LLVM' (did you mean llvm?)"),
        ("llvm -mcpu=", "-mcpu=", "an attribute has a name and a value"),
        ("llvm mcpu=x", "mcpu=x", "expected an attribute"),
        ("llvm -model='a b", "'", "a quote is not closed"),
        ("cuda -host=cuda", "cuda", "a cuda target cannot be a host"),
        ("cuda -host='llvm -host=llvm'", "llvm", "a host has no host itself"),
        ("llvm -mfloat-abi=medium", "medium", "mfloat-abi must be soft or hard"),
        ("vulkan -supported_subgroup_operations=256", "256", "bits without a meaning"),
        ("nvptx -mtriple=x86_64-linux-gnu", "x86_64-linux-gnu", "mtriple can only be nvptx64-nvidia-cuda"),
        ("llvm -cl-opt=-a:float=1", "-a:float=1", "no type 'float'"),
        ('{"kind": "llvm",}', "}", "is no JSON"),
        ('{"kind": "vulkan", "supports_int8": 2}', "2", "supports_int8 must be true or false, got 2"),
        ("vulkan -supports_int8=2", "2", "expected 0, 1, true or false, got '2'"),
        (
            '{"kind":"cuda","host":{"kind":"c","host":{"kind":"c","host":"c"}}}',
            "c",
            "targets nest too deeply",
        ),
        ('{"kind": "llvm"} x', " x", "there is more behind the object"),
        ('{"keys": []}', '{"keys": []}', "a target has a kind"),
        ('"llvm -mcpu=skylake"', "llvm -mcpu=skylake", "TVM reads no options in a JSON string"),
        ('{"kind": "cuda", "host": 3}', "3", "expected a target, an object or a string, got 3"),
    ],
)
def test_what_is_refused_and_where(text, at, message):
    """Each fault is named, at its place in the whole text."""
    with pytest.raises(TargetSyntaxError) as caught:
        parse(text, "tvm")
    assert message in str(caught.value)
    assert "tvm" == caught.value.dialect
    start, end = caught.value.span
    assert at == text[start:end]


@pytest.mark.parametrize(
    "option",
    [
        "---a:uint=0",
        "-a:",
        "-a:=",
        "-a:bool",
        "-a:bool=",
        "-a:bool=2",
        "-a=2",
        "-a:int=x",
        "-a:uint=x",
        "-",
        "a",
    ],
)
def test_options_of_llvm_have_a_name_a_type_and_a_value(option):
    """What TVM refuses of cl-opt when it comes to use it is refused when it is read."""
    with pytest.raises(TargetSyntaxError, match="cl-opt"):
        parse(json.dumps({"kind": "llvm", "cl-opt": [option]}), "tvm")
    assert CpuTarget() == parse("llvm -cl-opt=-print-after-all,--a=TRUE,-b:string=,-c:int=-3", "tvm")


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize(
    "place", ['"host":%s', '"mattr":[%s]', '"mcpu":%s', '"host":{"kind":"llvm","host":%s}']
)
def test_no_depth_of_a_value_is_another_error(place: str, begin: str, end: str):
    """What the JSON reader still reads may be too deep to be shown."""
    for depth in range(700, 1010):
        value = f"{begin * depth}1{end * depth}"
        with pytest.raises(TargetSyntaxError):
            parse(f'{{"kind":"llvm",{place % value}}}', "tvm")


def test_targets_that_tvm_cannot_say():
    """Every field without an attribute is named, and lossy writing leaves it out."""
    target = CudaTarget(arch="sm_80", ptx_isa="8.0", memory_bytes=1)
    with pytest.raises(NotRepresentableError) as caught:
        target.format("tvm")
    assert ["memory_bytes", "ptx_isa"] == sorted(name for name, _ in caught.value.fields)
    assert {"kind": "cuda", "arch": "sm_80"} == json.loads(target.format("tvm", lossy=True))
