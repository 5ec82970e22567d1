# dracfg for pipelines and for Argo CD's repo-server; runs as nobody in particular and needs no network.
FROM python:3.13-slim AS build
COPY . /src
RUN pip wheel --quiet --wheel-dir /wheels '/src[live]'

FROM python:3.13-slim
RUN apt-get update -qq \
 && apt-get install -qq --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --quiet --no-cache-dir --no-index --find-links=/wheels 'dracfg[live]' \
 && useradd --uid 999 --no-create-home --shell /usr/sbin/nologin dracfg
COPY integrations/argocd-plugin.yaml /home/argocd/cmp-server/config/plugin.yaml
USER 999
WORKDIR /work
ENTRYPOINT ["dracfg"]
