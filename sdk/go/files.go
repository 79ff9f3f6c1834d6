package crossdock

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"crossdock.example/go/crossdock/api"
)

// DownloadPackagesCSV writes the packages that match as CSV, without keeping the file in memory. It returns the number of bytes.
// If the connection breaks, an *os.File gets the file again from its start. Any other writer has the first part of it then.
func (c *Client) DownloadPackagesCSV(ctx context.Context, params api.ExportPackagesCsvParams, to io.Writer) (int64, error) {
	return c.download(ctx, to, func() (*http.Response, error) { return c.ExportPackagesCsv(ctx, &params) })
}

// DownloadPackagesXLSX does the same with a workbook.
func (c *Client) DownloadPackagesXLSX(ctx context.Context, params api.ExportPackagesXlsxParams, to io.Writer) (int64, error) {
	return c.download(ctx, to, func() (*http.Response, error) { return c.ExportPackagesXlsx(ctx, &params) })
}

// DownloadLabel writes the label of a package in a format (pdf or zpl).
func (c *Client) DownloadLabel(ctx context.Context, params api.GetPackageLabelParams, to io.Writer) (int64, error) {
	return c.download(ctx, to, func() (*http.Response, error) { return c.GetPackageLabel(ctx, &params) })
}

// DownloadBill writes a bill in a format (pdf or csv).
func (c *Client) DownloadBill(ctx context.Context, params api.DownloadCourierBillParams, to io.Writer) (int64, error) {
	return c.download(ctx, to, func() (*http.Response, error) { return c.DownloadCourierBill(ctx, &params) })
}

// download writes a file, and again from its start if the connection breaks and the target can be cut back, as an *os.File can.
func (c *Client) download(ctx context.Context, to io.Writer, open func() (*http.Response, error)) (int64, error) {
	start := time.Now()
	for retries := 0; ; retries++ {
		response, err := open()
		if err != nil {
			return 0, err
		}
		count, err := io.Copy(to, response.Body)
		response.Body.Close()
		if err == nil {
			return count, nil
		}
		wait, isTemporary := c.caller.waitAfter(err, response.Request.WithContext(ctx), retries, start)
		if !isTemporary || !takeBack(to, count) {
			return count, err
		}
		if err := sleep(ctx, wait); err != nil {
			return 0, err
		}
	}
}

// takeBack removes what was written last.
func takeBack(to io.Writer, count int64) bool {
	if count == 0 {
		return true
	}
	file, isFile := to.(interface {
		io.Seeker
		Truncate(size int64) error
	})
	if !isFile {
		return false
	}
	position, err := file.Seek(-count, io.SeekCurrent)
	return err == nil && file.Truncate(position) == nil
}

// UploadCustomersCSV uploads a CSV file of customers. Staff name the courier; for a courier it is empty. A dry run validates the
// file and stores nothing. The file is sent as it is read. Only a file that is an io.Seeker can be sent again after a failure.
func (c *Client) UploadCustomersCSV(ctx context.Context, file io.Reader, courierID string, dryRun bool) (*api.CustomerImport, error) {
	fields := map[string]string{}
	if courierID != "" {
		fields["target_courier_id"] = courierID
	}
	if dryRun {
		fields["dry_run"] = "true"
	}
	form, err := newForm(fields, "file", "customers.csv", file)
	if err != nil {
		return nil, err
	}
	response, err := c.UploadCustomersWithBodyWithResponse(ctx, nil, form.contentType, form.body, form.rewindable)
	if err != nil {
		return nil, err
	}
	return &response.JSON200.Data, nil
}

// UploadLogoFile uploads a PNG, JPEG or SVG as the logo of a courier and returns its path, relative to the host. Staff name the
// courier; for a courier it is empty.
func (c *Client) UploadLogoFile(ctx context.Context, file io.Reader, name, courierID string) (string, error) {
	fields := map[string]string{}
	if courierID != "" {
		fields["courier_id"] = courierID
	}
	form, err := newForm(fields, "logo", name, file)
	if err != nil {
		return "", err
	}
	response, err := c.UploadLogoWithBodyWithResponse(ctx, nil, form.contentType, form.body, form.rewindable)
	if err != nil {
		return "", err
	}
	return response.JSON200.Data.Path, nil
}

// form is a multipart body with one file, which is read while it is sent.
type form struct {
	contentType string
	body        io.Reader
	rewindable  api.RequestEditorFn
}

func newForm(fields map[string]string, fileField, name string, file io.Reader) (*form, error) {
	var head, tail bytes.Buffer
	target := &head
	writer := multipart.NewWriter(writerFunc(func(bytes []byte) (int, error) { return target.Write(bytes) }))
	for field, value := range fields {
		if err := writer.WriteField(field, value); err != nil {
			return nil, err
		}
	}
	if _, err := writer.CreateFormFile(fileField, name); err != nil {
		return nil, err
	}
	target = &tail
	if err := writer.Close(); err != nil {
		return nil, err
	}
	body := func() io.Reader {
		return io.MultiReader(bytes.NewReader(head.Bytes()), file, bytes.NewReader(tail.Bytes()))
	}
	rewindable := func(_ context.Context, request *http.Request) error {
		if seeker, isSeeker := file.(io.Seeker); isSeeker {
			request.GetBody = func() (io.ReadCloser, error) {
				_, err := seeker.Seek(0, io.SeekStart)
				return io.NopCloser(body()), err
			}
		}
		return nil
	}
	return &form{writer.FormDataContentType(), body(), rewindable}, nil
}

type writerFunc func([]byte) (int, error)

func (write writerFunc) Write(bytes []byte) (int, error) { return write(bytes) }
