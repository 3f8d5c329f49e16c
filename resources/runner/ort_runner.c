/* Runs an ONNX model on a phone and writes one JSON line per inference.
 *
 *     ort_runner JOB LIBRARY        JOB: a text file, one `key value…` per line (see read_job)
 *
 * The lines are those of studio/devices/stream.py; `hello` names only the runner and the runtime,
 * the host knows the rest. ONNX Runtime is opened by dlopen through its C API table, so that this
 * program needs no header and no library when it is built. Durations are CLOCK_MONOTONIC, moments
 * CLOCK_BOOTTIME, which is the clock of /proc/uptime and goes on while a phone sleeps.
 *
 * SIGTERM ends the run after the current inference and still closes the stream with `end`.
 * Exit code: 0 whole, 1 after an `error` line, 2 when its lines could not be written.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Slots of OrtApi. The table of a lower version is a prefix of a higher one; 17 suffices.
 * Source: struct OrtApi in onnxruntime_c_api.h; checked by a status round trip at every start. */
enum {
  CREATE_STATUS = 0, GET_ERROR_CODE = 1, GET_ERROR_MESSAGE = 2, CREATE_ENV = 3,
  DISABLE_TELEMETRY = 6, CREATE_SESSION = 7, RUN = 9, CREATE_SESSION_OPTIONS = 10,
  SET_OPTIMIZED_MODEL_FILE_PATH = 11, ENABLE_PROFILING = 14,
  SET_INTRA_OP_THREADS = 24, SET_INTER_OP_THREADS = 25, CREATE_TENSOR_WITH_DATA = 49,
  GET_TENSOR_DATA = 51, GET_ELEMENT_TYPE = 60, GET_DIMENSIONS_COUNT = 61, GET_DIMENSIONS = 62,
  GET_TENSOR_TYPE_AND_SHAPE = 65, CREATE_CPU_MEMORY_INFO = 69, GET_ALLOCATOR = 78, RELEASE_STATUS = 93,
  RELEASE_SESSION = 95, RELEASE_VALUE = 96, RELEASE_TENSOR_TYPE_AND_SHAPE = 99, END_PROFILING = 110,
  ADD_SESSION_CONFIG_ENTRY = 130, API_VERSION = 17
};
#define MAX_TENSORS 64
#define MAX_RANK 16
#define MAX_TEXT 4096

typedef void *Status;
typedef struct { const void *(*GetApi)(uint32_t); const char *(*GetVersionString)(void); } ApiBase;

typedef struct {
  char name[1024];
  int type;                 /* ONNXTensorElementDataType */
  int rank;
  int64_t dims[MAX_RANK];   /* of one sample */
  size_t bytes;             /* of one sample */
  char *data;               /* all samples, one after the other */
} Input;

static struct {
  char model[MAX_TEXT], outputs_file[MAX_TEXT], optimized[MAX_TEXT], mode[32];
  long threads, warmup, runs, samples, profile;
  double seconds;
  int64_t interval_ns;
  int input_count, output_count;
  Input inputs[MAX_TENSORS];
  char outputs[MAX_TENSORS][1024];
} job;

static void *const *api;
static void *env, *options, *session, *memory;
static const char *input_names[MAX_TENSORS], *output_names[MAX_TENSORS];
static void *values[MAX_TENSORS], *results[MAX_TENSORS];
static volatile sig_atomic_t stopping;
static long runs_done;

static int64_t now_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static int64_t clock_ns(void) { return now_of(CLOCK_MONOTONIC); }
static int64_t moment_ns(void) { return now_of(CLOCK_BOOTTIME); }
static void on_term(int signal_number) { (void)signal_number; stopping = 1; }

/* One line, one write: a reader or a kill never sees half of two. */
static void say(const char *format, ...) {
  static char line[16384];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(line, sizeof line - 1, format, args);
  va_end(args);
  if (length < 0 || length > (int)sizeof line - 2) length = (int)sizeof line - 2;
  line[length++] = '\n';
  for (int done = 0; done < length;) {
    ssize_t n = write(1, line + done, (size_t)(length - done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(2); /* full disk or closed pipe: nobody would know */
    done += (int)n;
  }
}

/* JSON text between quotes; the result is valid until the next call. */
static const char *quoted(const char *text) {
  static char out[8192];
  size_t n = 0;
  for (const unsigned char *c = (const unsigned char *)text; *c && n < sizeof out - 8; c++) {
    if (*c == '"' || *c == '\\') { out[n++] = '\\'; out[n++] = (char)*c; }
    else if (*c < 32) n += (size_t)snprintf(out + n, 8, "\\u%04x", *c);
    else out[n++] = (char)*c;
  }
  out[n] = 0;
  return out;
}

static long memory_kib(const char *key) {
  char line[256];
  long kib = -1;
  FILE *file = fopen("/proc/self/status", "r");
  if (!file) return -1;
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, key, strlen(key))) { kib = atol(line + strlen(key) + 1); break; }
  fclose(file);
  return kib;
}

static void finish(const char *reason, int code) {
  long kib = memory_kib("VmHWM");
  char peak[32] = "null";
  if (kib >= 0) snprintf(peak, sizeof peak, "%lld", (long long)kib * 1024);
  say("{\"type\":\"end\",\"t_ns\":%lld,\"reason\":\"%s\",\"runs\":%ld,\"peak_rss_bytes\":%s}",
      (long long)moment_ns(), reason, runs_done, peak);
  _exit(code); /* no destructors: the stream is whole, and runtimes crash in theirs */
}

static void fail(const char *kind, const char *format, ...) {
  char text[4096];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  say("{\"type\":\"error\",\"t_ns\":%lld,\"message\":\"%s\",\"error\":\"%s\"}",
      (long long)moment_ns(), quoted(text), kind);
  finish("failed", 1);
}

static void check(Status status, const char *what) {
  if (!status) return;
  const char *(*message)(Status) = (const char *(*)(Status))api[GET_ERROR_MESSAGE];
  fail("tool", "%s: %s", what, message(status));
}

static void phase(const char *name, const char *detail) {
  say("{\"type\":\"phase\",\"t_ns\":%lld,\"name\":\"%s\",\"detail\":\"%s\"}",
      (long long)moment_ns(), name, quoted(detail));
}

static size_t element_bytes(int type) {
  switch (type) {
    case 1: case 6: case 12: return 4;           /* float, int32, uint32 */
    case 2: case 3: case 9: return 1;            /* uint8, int8, bool */
    case 4: case 5: case 10: case 16: return 2;  /* uint16, int16, float16, bfloat16 */
    case 7: case 11: case 13: return 8;          /* int64, double, uint64 */
    default: return 0;
  }
}

static const char *element_name(int type) {
  static const char *const names[] = {"", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "str",
                                      "bool", "float16", "float64", "uint32", "uint64", "", "", "bfloat16"};
  return type > 0 && type <= 16 ? names[type] : "";
}

/* Names travel as hexadecimal: they may hold anything. */
static void unhex(const char *hex, char *out, size_t size) {
  size_t n = 0;
  for (; hex[0] && hex[1] && n < size - 1; hex += 2) {
    char pair[3] = {hex[0], hex[1], 0};
    out[n++] = (char)strtol(pair, NULL, 16);
  }
  out[n] = 0;
}

static void read_input(char *rest) {
  if (job.input_count == MAX_TENSORS) fail("input", "More than %d inputs.", MAX_TENSORS);
  Input *input = &job.inputs[job.input_count++];
  char *save, *word = strtok_r(rest, " ", &save);
  if (!word) fail("input", "A job line is cut.");
  unhex(word, input->name, sizeof input->name);
  input->type = atoi(strtok_r(NULL, " ", &save));
  input->rank = atoi(strtok_r(NULL, " ", &save));
  if (input->rank < 0 || input->rank > MAX_RANK || !element_bytes(input->type))
    fail("unsupported", "Input %s has a type or rank that this runner cannot feed.", input->name);
  input->bytes = element_bytes(input->type);
  for (int i = 0; i < input->rank; i++) {
    input->dims[i] = atoll(strtok_r(NULL, " ", &save));
    input->bytes *= (size_t)input->dims[i];
  }
  char *path = strtok_r(NULL, "\n", &save);
  FILE *file = path ? fopen(path, "rb") : NULL;
  if (!file) fail("input", "Cannot read the input file %s: %s", path ? path : "", strerror(errno));
  size_t all = input->bytes * (size_t)job.samples;
  input->data = malloc(all ? all : 1);
  if (!input->data) fail("input", "The inputs do not fit into memory.");
  if (fread(input->data, 1, all, file) != all) fail("input", "The input file %s is too short.", path);
  fclose(file);
}

static void read_job(const char *path) {
  static char line[16384];
  FILE *file = fopen(path, "r");
  if (!file) fail("input", "Cannot read the job %s: %s", path, strerror(errno));
  job.threads = 1;
  job.samples = 1;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *rest = strchr(line, ' ');
    if (!rest) continue;
    *rest++ = 0;
    if (!strcmp(line, "model")) snprintf(job.model, sizeof job.model, "%s", rest);
    else if (!strcmp(line, "outputs_file")) snprintf(job.outputs_file, sizeof job.outputs_file, "%s", rest);
    else if (!strcmp(line, "mode")) snprintf(job.mode, sizeof job.mode, "%s", rest);
    else if (!strcmp(line, "threads")) job.threads = atol(rest);
    else if (!strcmp(line, "warmup")) job.warmup = atol(rest);
    else if (!strcmp(line, "runs")) job.runs = atol(rest);
    else if (!strcmp(line, "seconds")) job.seconds = atof(rest);
    else if (!strcmp(line, "interval_ns")) job.interval_ns = atoll(rest);
    else if (!strcmp(line, "samples")) job.samples = atol(rest);
    else if (!strcmp(line, "profile")) job.profile = atol(rest);
    else if (!strcmp(line, "optimized")) snprintf(job.optimized, sizeof job.optimized, "%s", rest);
    else if (!strcmp(line, "input")) read_input(rest);
    else if (!strcmp(line, "output") && job.output_count < MAX_TENSORS)
      unhex(rest, job.outputs[job.output_count++], sizeof job.outputs[0]);
    else fail("input", "The job has a line “%s” that this runner does not know.", line);
  }
  fclose(file);
}

static void open_runtime(const char *path) {
  setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("tool", "Cannot open the runtime: %s", dlerror());
  const ApiBase *(*base)(void) = (const ApiBase *(*)(void))dlsym(library, "OrtGetApiBase");
  if (!base) fail("tool", "%s is not ONNX Runtime.", path);
  say("{\"type\":\"hello\",\"runner\":\"ort_runner 1\",\"runtime\":\"ONNX Runtime %s\",\"pid\":%d}",
      base()->GetVersionString(), (int)getpid());
  api = (void *const *)base()->GetApi(API_VERSION);
  if (!api) fail("unsupported", "ONNX Runtime %s is older than this runner needs.", base()->GetVersionString());
  Status round_trip = ((Status(*)(int, const char *))api[CREATE_STATUS])(2, "round trip");
  if (((int (*)(Status))api[GET_ERROR_CODE])(round_trip) != 2 ||
      strcmp(((const char *(*)(Status))api[GET_ERROR_MESSAGE])(round_trip), "round trip"))
    fail("tool", "The function table of this ONNX Runtime is not the expected one.");
  ((void (*)(Status))api[RELEASE_STATUS])(round_trip);
}

/* ONNX Runtime looks for external data beside the model, and needs its folder by its full name. */
static void make_model_path_absolute(void) {
  char folder[MAX_TEXT], path[2 * MAX_TEXT];
  if (job.model[0] == '/' || !getcwd(folder, sizeof folder)) return;
  if (snprintf(path, sizeof path, "%s/%s", folder, job.model) >= (int)sizeof job.model)
    fail("input", "The path of the model is too long.");
  memcpy(job.model, path, strlen(path) + 1);
}

static void load(void) {
  make_model_path_absolute();
  phase("load", "");
  int64_t begin = clock_ns();
  check(((Status(*)(int, const char *, void **))api[CREATE_ENV])(3, "studio", &env), "CreateEnv");
  check(((Status(*)(const void *))api[DISABLE_TELEMETRY])(env), "DisableTelemetryEvents");
  check(((Status(*)(void **))api[CREATE_SESSION_OPTIONS])(&options), "CreateSessionOptions");
  check(((Status(*)(void *, int))api[SET_INTRA_OP_THREADS])(options, (int)job.threads), "threads");
  check(((Status(*)(void *, int))api[SET_INTER_OP_THREADS])(options, 1), "threads");
  check(((Status(*)(const void *, const char *, const void *, void **))api[CREATE_SESSION])(
            env, job.model, options, &session), "The model cannot be loaded");
  check(((Status(*)(int, int, void **))api[CREATE_CPU_MEMORY_INFO])(1, 0, &memory), "CreateCpuMemoryInfo");
  say("{\"type\":\"loaded\",\"t_ns\":%lld,\"load_ns\":%lld,\"target_ran\":\"ort/cpu\","
      "\"evidence\":\"no provider but CPUExecutionProvider was given to the session\",\"rss_bytes\":%lld}",
      (long long)moment_ns(), (long long)(clock_ns() - begin), (long long)memory_kib("VmRSS") * 1024);
}

static void bind_sample(long index) {
  for (int i = 0; i < job.input_count; i++) {
    Input *input = &job.inputs[i];
    if (values[i]) ((void (*)(void *))api[RELEASE_VALUE])(values[i]);
    values[i] = NULL;
    check(((Status(*)(const void *, void *, size_t, const int64_t *, size_t, int, void **))
               api[CREATE_TENSOR_WITH_DATA])(memory, input->data + (size_t)index * input->bytes, input->bytes,
                                             input->dims, (size_t)input->rank, input->type, &values[i]),
          input->name);
  }
}

static Status infer(void) {
  return ((Status(*)(void *, const void *, const char *const *, const void *const *, size_t, const char *const *,
                     size_t, void **))api[RUN])(session, NULL, input_names, (const void *const *)values,
                                                (size_t)job.input_count, output_names, (size_t)job.output_count,
                                                results);
}

static void release_results(void) {
  for (int i = 0; i < job.output_count; i++) {
    if (results[i]) ((void (*)(void *))api[RELEASE_VALUE])(results[i]);
    results[i] = NULL;
  }
}

/* Appends the tensor to the outputs file; its record says how many bytes it is. */
static void write_output(FILE *file, long index, int number) {
  void *info;
  int type;
  size_t rank, count = 1;
  int64_t dims[MAX_RANK];
  void *data;
  char shape[512] = "";
  check(((Status(*)(const void *, void **))api[GET_TENSOR_TYPE_AND_SHAPE])(results[number], &info), "output type");
  check(((Status(*)(const void *, int *))api[GET_ELEMENT_TYPE])(info, &type), "output type");
  check(((Status(*)(const void *, size_t *))api[GET_DIMENSIONS_COUNT])(info, &rank), "output rank");
  if (rank > MAX_RANK || !element_bytes(type))
    fail("unsupported", "Output %s has a type or rank that this runner cannot write.", job.outputs[number]);
  check(((Status(*)(const void *, int64_t *, size_t))api[GET_DIMENSIONS])(info, dims, rank), "output shape");
  ((void (*)(void *))api[RELEASE_TENSOR_TYPE_AND_SHAPE])(info);
  for (size_t i = 0, n = 0; i < rank; i++) {
    count *= (size_t)dims[i];
    n += (size_t)snprintf(shape + n, sizeof shape - n, i ? ",%lld" : "%lld", (long long)dims[i]);
  }
  check(((Status(*)(void *, void **))api[GET_TENSOR_DATA])(results[number], &data), "output data");
  if (fwrite(data, element_bytes(type), count, file) != count || fflush(file))
    fail("device", "Cannot write the outputs: %s", strerror(errno));
  say("{\"type\":\"output\",\"t_ns\":%lld,\"name\":\"%s\",\"dtype\":\"%s\",\"shape\":[%s],"
      "\"path\":\"%06ld-%d.raw\",\"index\":%ld}",
      (long long)moment_ns(), quoted(job.outputs[number]), element_name(type), shape, index, number, index);
}

static void write_outputs(void) {
  char detail[64];
  if (!job.outputs_file[0]) return;
  snprintf(detail, sizeof detail, "%ld samples", job.samples);
  phase("outputs", detail);
  FILE *file = fopen(job.outputs_file, "wb");
  if (!file) fail("device", "Cannot write %s: %s", job.outputs_file, strerror(errno));
  for (long index = 0; index < job.samples && !stopping; index++) {
    bind_sample(index);
    check(infer(), "The model failed on the real inputs");
    for (int i = 0; i < job.output_count; i++) write_output(file, index, i);
    release_results();
  }
  fclose(file);
}

static void warm_up(void) {
  int64_t latency = 0;
  long done = 0;
  for (; done < job.warmup && !stopping; done++) {
    int64_t begin = clock_ns();
    Status status = infer();
    latency = clock_ns() - begin;
    check(status, "The model failed while running");
    release_results();
  }
  say("{\"type\":\"warm\",\"t_ns\":%lld,\"runs\":%ld,\"latency_ns\":%lld}", (long long)moment_ns(), done,
      (long long)latency);
}

static void sleep_until(int64_t due) {
  for (int64_t left; (left = due - clock_ns()) > 0 && !stopping;) {
    if (left > 50000000) left = 50000000;
    struct timespec t = {0, (long)left};
    nanosleep(&t, NULL);
  }
}

static void measure(void) {
  if (job.runs <= 0 && job.seconds <= 0) return;
  phase("measure", job.mode);
  int64_t first = clock_ns(), until = first + (int64_t)(job.seconds * 1e9);
  while (!stopping) {
    int64_t moment = moment_ns(), begin = clock_ns();
    Status status = infer();
    int64_t end = clock_ns();
    check(status, "The model failed while running");
    release_results();
    say("{\"type\":\"run\",\"i\":%ld,\"t_ns\":%lld,\"latency_ns\":%lld,\"cpu\":%d}", runs_done, (long long)moment,
        (long long)(end - begin), sched_getcpu());
    runs_done++;
    if (runs_done >= job.runs && end >= until) break;
    if (job.interval_ns > 0)
      sleep_until(first + ((clock_ns() - first) / job.interval_ns + 1) * job.interval_ns);
  }
}

static void config(const char *key, const char *value) {
  check(((Status(*)(void *, const char *, const char *))api[ADD_SESSION_CONFIG_ENTRY])(options, key, value), key);
}

/* More inferences in a session of its own, with the runtime's profiler on: the timed ones had none. The graph
 * that really runs is written beside the trace, its weights apart, which nobody reads. */
static void profile(void) {
  void *allocator;
  char *trace = NULL;
  if (job.profile <= 0 || stopping) return;
  phase("profile", "");
  ((void (*)(void *))api[RELEASE_SESSION])(session);
  check(((Status(*)(void *, const char *))api[ENABLE_PROFILING])(options, "trace"), "EnableProfiling");
  if (job.optimized[0]) {
    check(((Status(*)(void *, const char *))api[SET_OPTIMIZED_MODEL_FILE_PATH])(options, job.optimized), "optimized");
    config("session.optimized_model_external_initializers_file_name", "optimized.weights");
    config("session.optimized_model_external_initializers_min_size_in_bytes", "1024");
  }
  check(((Status(*)(const void *, const char *, const void *, void **))api[CREATE_SESSION])(
            env, job.model, options, &session), "The model cannot be loaded for its profile");
  long done = 0;
  for (long i = 0; i < job.warmup + job.profile && !stopping; i++) {
    check(infer(), "The model failed while it was profiled");
    release_results();
    if (i >= job.warmup) done++;
  }
  check(((Status(*)(void **))api[GET_ALLOCATOR])(&allocator), "GetAllocatorWithDefaultOptions");
  check(((Status(*)(void *, void *, char **))api[END_PROFILING])(session, allocator, &trace), "SessionEndProfiling");
  if (!trace || rename(trace, "trace.json")) fail("device", "The trace cannot be kept: %s", strerror(errno));
  if (done > 0)
    say("{\"type\":\"profiled\",\"t_ns\":%lld,\"form\":\"onnxruntime\",\"path\":\"\",\"runs\":%ld}",
        (long long)moment_ns(), done);
}

int main(int argc, char **argv) {
  signal(SIGTERM, on_term);
  signal(SIGPIPE, SIG_IGN);
  if (argc != 3) fail("input", "Usage: ort_runner JOB LIBRARY");
  read_job(argv[1]);
  open_runtime(argv[2]);
  for (int i = 0; i < job.input_count; i++) input_names[i] = job.inputs[i].name;
  for (int i = 0; i < job.output_count; i++) output_names[i] = job.outputs[i];
  load();
  write_outputs();
  bind_sample(0);
  warm_up();
  measure();
  profile();
  finish(stopping ? "stopped" : "done", 0);
  return 0;
}
