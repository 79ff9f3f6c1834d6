<?php

$curl = curl_init();
curl_setopt_array($curl, [
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 30,
    CURLOPT_HTTPHEADER => ['Authorization: Bearer YOUR_TOKEN'],
]);
/** Returns the body of a success. */
$get = function (string $path) use ($curl): string {
    curl_setopt($curl, CURLOPT_URL, 'https://demo.crossdock.example' . $path);
    $body = curl_exec($curl);
    $isSuccess = is_string($body) && curl_getinfo($curl, CURLINFO_RESPONSE_CODE) === 200;
    return $isSuccess ? $body : throw new RuntimeException("$path: $body " . curl_error($curl));
};

$bills = json_decode($get('/api/LoadCourierBills.php?status=published'), true, 512, JSON_THROW_ON_ERROR);
foreach ($bills['data'] as $bill) {
    $pdf = $get('/api/DownloadCourierBill.php?' . http_build_query(['bill_id' => $bill['bill_id']]));
    file_put_contents($bill['invoice_number'] . '.pdf', $pdf);
}
