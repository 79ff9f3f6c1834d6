<?php

/** Sends one step of the login, and returns its JSON. */
function logIn(array $step): array
{
    $curl = curl_init('https://demo.crossdock.example/api/login.php');
    curl_setopt_array($curl, [
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 30,
        CURLOPT_HTTPHEADER => ['Content-Type: application/json'],
        CURLOPT_POSTFIELDS => json_encode($step, JSON_THROW_ON_ERROR),
    ]);
    $response = curl_exec($curl);
    $json = is_string($response) ? json_decode($response, true) : null;
    $isDone = in_array($json['status'] ?? '', ['success', '2fa_required'], true);
    return $isDone ? $json : throw new RuntimeException($json['message'] ?? curl_error($curl));
}

$login = logIn(['action' => 'login', 'username' => 'iex', 'password' => 'crossdock-demo']);
if ($login['status'] === '2fa_required') {
    echo 'Code: ';
    $code = trim(fgets(STDIN));
    $login = logIn(['action' => 'verify_2fa', 'preauth_token' => $login['data']['preauth_token'], 'code' => $code]);
}
$token = $login['data']['access_token'];
echo 'Logged in as ', $login['data']['user']['full_name'], "\n";
