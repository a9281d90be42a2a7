# Kafka and Kafka Connect with Debezium: the same jars as `tidemark up-kafka` has, of the same pom, byte by byte.
FROM maven:3.9.9-eclipse-temurin-17 AS jars
COPY tidemark/console/servers/maven/pom.xml tidemark/console/servers/maven/jars.sha256 /build/
RUN mvn --quiet --batch-mode --file=/build/pom.xml -Dcomponents=/opt/servers package \
 && cd /opt/servers && sha256sum --check --strict --quiet /build/jars.sha256

FROM eclipse-temurin:17.0.14_7-jre
COPY --from=jars /opt/servers /opt/servers
COPY deploy/kafka.properties deploy/connect.properties deploy/cdc.a.properties deploy/cdc.b.properties /etc/tidemark/
RUN useradd --create-home servers && mkdir /data && chown servers /data
USER servers
VOLUME /data
ENV CLASSPATH=/opt/servers/kafka/*
