#!/bin/bash
# Run a class of the distribution, as the script of the same name does there.
exec "$JAVA_HOME/bin/java" ${KAFKA_HEAP_OPTS:--Xmx256M} ${KAFKA_JVM_PERFORMANCE_OPTS:--XX:+UseSerialGC -XX:TieredStopAtLevel=1} \
  -Dlog4j2.configurationFile="${KAFKA_LOG4J_FILE:-/etc/kafka/docker/log4j2.yaml}" ${KAFKA_OPTS:-} -cp '/opt/kafka/libs/*' "$@"
