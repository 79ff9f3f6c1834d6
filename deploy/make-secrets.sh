#!/bin/sh
# Creates the secrets of one deployment: sh make-secrets.sh <new folder> [database host] [pooler host:port].
# Each file has the name of a setting, as SECRETS_DIR expects. Run it once per deployment, so that staging and production share no key.
set -eu

folder=${1:?Usage: sh make-secrets.sh <new folder> [database host] [pooler host:port]}
database=${2:-127.0.0.1}
pooler=${3:-}
umask 077
mkdir "$folder"

random() { openssl rand -hex 32; }
# The folder protects the files. They are readable themselves, because containers read them with an account of their own.
write() { printf '%s\n' "$2" >"$folder/$1" && chmod 444 "$folder/$1"; }

login=$(random)
owner=$(random)
direct="postgres://crossdock_login:$login@$database:5432/crossdock"
write TOKEN_KEYS "k1:$(random)"
write ENCRYPTION_KEYS "1:$(random)"
write LOOKUP_KEY "$(random)"
write DATABASE_OWNER_URL "postgres://crossdock_owner:$owner@$database:5432/crossdock"
if [ -n "$pooler" ]; then
  write DATABASE_URL "postgres://crossdock_login:$login@$pooler/crossdock"
  write DATABASE_DIRECT_URL "$direct"
else
  write DATABASE_URL "$direct"
fi
# For PostgreSQL and pgbouncer.
write POSTGRES_PASSWORD "$(random)"
write OWNER_PASSWORD "$owner"
write LOGIN_PASSWORD "$login"
write userlist.txt "\"crossdock_login\" \"$login\""
echo "Created $folder. Store ENCRYPTION_KEYS and LOOKUP_KEY apart from the backups: both are needed to read one."
