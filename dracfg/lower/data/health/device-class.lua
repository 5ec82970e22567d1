-- A class has no status; whether devices match it is known at allocation only.
return {status = "Healthy", message = "read whenever a claim is allocated"}
