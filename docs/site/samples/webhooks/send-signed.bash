SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
ID=01930a3e-7c1d-7e11-9c5a-2f4b8d6e0e02
TIMESTAMP=$(date +%s)
BODY='{"type":"package.created","event_id":"01930a3e-7c1d-7e11-9c5a-2f4b8d6e0e02","sequence":1,"timestamp":"2026-11-22 21:40:00","data":{"tracking_number":"1Z999AA10123456784"}}'

KEY=$(printf '%s' "${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
SIGNATURE=$(printf '%s' "$ID.$TIMESTAMP.$BODY" \
  | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)

curl -sS -o /dev/null -w '%{http_code}\n' http://127.0.0.1:8080/ \
  -H 'Content-Type: application/json' \
  -H "webhook-id: $ID" -H "webhook-timestamp: $TIMESTAMP" -H "webhook-signature: v1,$SIGNATURE" \
  --data-binary "$BODY"
