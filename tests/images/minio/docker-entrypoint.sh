#!/bin/sh
# As the public image's: anything but `minio …` is taken for arguments of minio.
[ "${1}" = minio ] || set -- minio "$@"
exec "$@"
