#!/bin/bash
export KAFKA_HEAP_OPTS=${KAFKA_HEAP_OPTS:--Xmx1G -Xms1G} KAFKA_LOG4J_FILE=/opt/kafka/config/log4j2.yaml
exec "$(dirname "$0")/kafka-run-class.sh" kafka.Kafka "$@"
