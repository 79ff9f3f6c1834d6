module scenario

go 1.24.0
