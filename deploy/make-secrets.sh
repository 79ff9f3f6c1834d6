#!/bin/sh
# Creates the secrets of one deployment. Each file has the name of a setting, as SECRETS_DIR expects. Run it once per deployment, so that
# staging and production share no key.
set -eu
export LC_ALL=C

usage='Usage: sh make-secrets.sh <new folder> [database host[:port]] [pooler host[:port]] [--name <name>] [--sslmode <mode>] [--sslrootcert <file>]
An IPv6 address with a port is in brackets: [2001:db8::1]:5433. The ports are 5432 and 6432 by default.
<name> is the name of the database and the beginning of its roles: crossdock by default. Give it to roles.sql too.
<mode> is verify-full for encrypted connections to the database and the pooler, or disable if nobody else is in their network.
<file> is the absolute path, on the machines of the service, of the authority that has issued their certificates.'

fail() {
  printf '%s\n%s\n' "$1" "$usage" >&2
  exit 2
}

# Prints host:port for a URL, with the default port $2 if $1 has none.
address() {
  case $1 in
    \[*\]:*) host=${1%]:*}] port=${1##*]:} ;;
    \[*\]) host=$1 port=$2 ;;
    *:*:*) host="[$1]" port=$2 ;;
    *:*) host=${1%:*} port=${1##*:} ;;
    *) host=$1 port=$2 ;;
  esac
  case $host in
    \[*[!0-9A-Fa-f:.]*\] | \[\] | '' | -* | .*) fail "'$1' is not a host." ;;
    \[*\]) ;;
    *[!A-Za-z0-9_.-]*) fail "'$1' is not a host name or an address." ;;
  esac
  case $port in
    '' | 0* | *[!0-9]* | ??????*) fail "'$1' has no usable port." ;;
  esac
  [ "$port" -le 65535 ] || fail "'$1' has no usable port."
  printf '%s:%s' "$host" "$port"
}

name=crossdock sslmode='' sslrootcert=''
folder='' database='' pooler='' given=0
while [ $# -gt 0 ]; do
  case $1 in
    --name) [ $# -gt 1 ] || fail '--name needs a name.'; name=$2; shift ;;
    --sslmode) [ $# -gt 1 ] || fail '--sslmode needs a mode.'; sslmode=$2; shift ;;
    --sslrootcert) [ $# -gt 1 ] || fail '--sslrootcert needs a file.'; sslrootcert=$2; shift ;;
    --*) fail "The option $1 is unknown." ;;
    *)
      given=$((given + 1))
      case $given in 1) folder=$1 ;; 2) database=$1 ;; 3) pooler=$1 ;; *) fail "'$1' is one argument too many." ;; esac ;;
  esac
  shift
done
[ -n "$folder" ] || fail 'Name a folder that does not exist yet.'
case $name in
  '' | [!a-z]* | *[!a-z0-9_]*) fail "--name must be lower-case letters, digits and underscores, and begin with a letter." ;;
esac
[ ${#name} -le 40 ] || fail '--name has more than 40 characters.'
case $sslmode in
  '' | disable | verify-full) ;;
  *) fail '--sslmode must be verify-full or disable.' ;;
esac
case $sslrootcert in
  '') ;;
  [!/]* | *[!A-Za-z0-9_./-]*) fail '--sslrootcert must be an absolute path of letters, digits and . _ - /.' ;;
  *) [ "$sslmode" = verify-full ] || fail '--sslrootcert needs --sslmode verify-full.' ;;
esac
query=${sslmode:+?sslmode=$sslmode}${sslrootcert:+&sslrootcert=$sslrootcert}
database=$(address "${database:-127.0.0.1}" 5432)
[ -z "$pooler" ] || pooler=$(address "$pooler" 6432)

umask 077
mkdir "$folder"

random() { openssl rand -hex 32; }
# The folder protects the files. They are readable themselves, because containers read them with an account of their own.
write() { printf '%s\n' "$2" >"$folder/$1" && chmod 444 "$folder/$1"; }

login=$(random)
owner=$(random)
direct="postgres://${name}_login:$login@$database/$name$query"
write TOKEN_KEYS "k1:$(random)"
write ENCRYPTION_KEYS "1:$(random)"
write LOOKUP_KEY "$(random)"
write DATABASE_OWNER_URL "postgres://${name}_owner:$owner@$database/$name$query"
if [ -n "$pooler" ]; then
  write DATABASE_URL "postgres://${name}_login:$login@$pooler/$name$query"
  write DATABASE_DIRECT_URL "$direct"
else
  write DATABASE_URL "$direct"
fi
# For PostgreSQL and pgbouncer.
write POSTGRES_PASSWORD "$(random)"
write OWNER_PASSWORD "$owner"
write LOGIN_PASSWORD "$login"
write userlist.txt "\"${name}_login\" \"$login\""
echo "Created $folder. Store ENCRYPTION_KEYS and LOOKUP_KEY apart from the backups: both are needed to read one."
echo "Without compose, create the database $name: psql -v name=$name and the passwords, as roles.sql says."
