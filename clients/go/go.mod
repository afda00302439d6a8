module github.com/scarce-rs/scarce/clients/go

go 1.22
