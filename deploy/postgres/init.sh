#!/bin/sh
# The image of PostgreSQL runs this once, when it creates its data folder.
set -eu
psql --username "$POSTGRES_USER" --dbname postgres \
  --set owner_password="$(cat /run/secrets/OWNER_PASSWORD)" \
  --set login_password="$(cat /run/secrets/LOGIN_PASSWORD)" \
  --file /run/roles.sql
