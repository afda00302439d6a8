# Read by every make that a build script runs, before its own files: of librdkafka only the C library is built.
override LIBSUBDIRS := src
