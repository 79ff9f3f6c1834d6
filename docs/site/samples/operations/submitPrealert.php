<?php

$prealert = ['UserCode' => 'IEX-1001', 'TrackingNumber' => '1Z999AA10123456784', 'Vendor' => 'Example Books'];
$curl = curl_init('https://demo.crossdock.example/api/Prealert.php');
curl_setopt_array($curl, [
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 30,
    CURLOPT_HTTPHEADER => ['Content-Type: application/json', 'X-API-KEY: YOUR_API_KEY'],
    CURLOPT_POSTFIELDS => json_encode($prealert, JSON_THROW_ON_ERROR),
]);
$response = curl_exec($curl);
$body = is_string($response) ? json_decode($response, true) : null;
$http = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
$existing = $body['existing'] ?? null;
// Other codes with 409 mean that nothing was stored. With another customer, the parcel would go to that one.
$isAnnounced = $http === 201 || ($existing !== null && !$existing['differs']);
$prealertId = $isAnnounced ? ($body['data'] ?? $existing)['prealert_id'] : null;
echo $prealertId ?? $body['message'] ?? 'No response. Send it again.', "\n";
foreach ($body['data']['warnings'] ?? [] as $warning) {
    echo 'Check it: ', $warning['message'], "\n"; // for example two numbers in one field
}
