collective all-reduce --platform property.xml.part
