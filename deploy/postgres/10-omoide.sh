#!/bin/sh
# Runs once, when the database is created. Row level security does not hold for a superuser, so
# omoide has a role of its own.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname omoide \
  --set password="$OMOIDE_DB_PASSWORD" <<'SQL'
CREATE EXTENSION IF NOT EXISTS vector;
CREATE ROLE omoide LOGIN PASSWORD :'password';
GRANT ALL ON DATABASE omoide TO omoide;
GRANT ALL ON SCHEMA public TO omoide;
SQL
